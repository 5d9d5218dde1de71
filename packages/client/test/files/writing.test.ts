import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'

const streamOf = (...parts: unknown[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) {
        if (part instanceof Error) return controller.error(part)
        controller.enqueue(part as Uint8Array)
      }
      controller.close()
    },
  })
const bytes = (text: string) => new TextEncoder().encode(text)

it('sends a string, bytes and a stream', async () => {
  const seen: string[] = []
  const { sandbox } = await newScene(async ({ query, body, json }) => {
    seen.push(`${query} ${await body()}`)
    json({ size: 1 })
  })
  await sandbox.files.write('a', 'é', { mode: 0o640, append: true })
  await sandbox.files.write('a', bytes('bytes'))
  await sandbox.files.write('a', streamOf(bytes('one '), new Uint8Array(0), bytes('two')), { parents: true })
  expect(seen).toEqual(['append=true&path=a&mode=640 é', 'path=a bytes', 'parents=true&path=a one two'])
})

it('throws the source’s error when the source fails', async () => {
  const { sandbox } = await newScene(async ({ body, json }) => {
    await body().then(
      () => json({}),
      () => undefined,
    )
  })
  const broken = () => streamOf(bytes('half'), new Error('the source broke'))
  const failed = { code: 'file_failed', message: expect.stringContaining('the source broke') }
  await expect(sandbox.files.write('a', broken())).rejects.toMatchObject(failed)
  await expect(sandbox.files.upload('a', broken())).rejects.toMatchObject(failed)
  await expect(sandbox.hydrate(broken())).rejects.toMatchObject(failed)
  await expect(sandbox.exec('cat', { stdin: broken() })).rejects.toMatchObject({ code: 'input_closed' })
  await expect(sandbox.files.write('a', streamOf('a text'))).rejects.toMatchObject({
    code: 'argument_invalid',
  })
  const taken = streamOf(bytes('x'))
  taken.getReader()
  await expect(sandbox.files.write('a', taken)).rejects.toMatchObject({ code: 'argument_invalid' })
  await expect(sandbox.files.upload('a', 'text' as never)).rejects.toMatchObject({ code: 'argument_invalid' })
  for (const data of [null, undefined, 7])
    await expect(sandbox.files.write('a', data as never)).rejects.toMatchObject({ code: 'argument_invalid' })
})

it('throws an error response that arrives while it sends, and cancels the source', async () => {
  const { sandbox } = await newScene(({ request, problem }) => {
    request.resume()
    problem('file_is_directory', 409)
  })
  let isLeft = false
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
    cancel() {
      isLeft = true
    },
  })
  await expect(sandbox.files.write('a', endless)).rejects.toMatchObject({ code: 'file_is_directory' })
  await expect.poll(() => isLeft).toBe(true)
})

it('cancels while it waits for its source', async () => {
  const { sandbox } = await newScene(({ request }) => void request.resume(), { cancelMs: 50 })
  const caller = new AbortController()
  let isLeft = false
  const half = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes('half')),
    pull: () => {
      setTimeout(() => caller.abort(), 20)
      return new Promise(() => undefined)
    },
    cancel() {
      isLeft = true
    },
  })
  await expect(sandbox.files.upload('a', half, { signal: caller.signal })).rejects.toMatchObject({
    code: 'cancelled',
  })
  await expect.poll(() => isLeft).toBe(true)
})

it.each([-1, 1.5, Number.NaN])('refuses the mode %d', async (mode) => {
  const { sandbox, lines } = await newScene(() => undefined)
  for (const refused of [
    sandbox.files.write('a', 'x', { mode }),
    sandbox.files.mkdir('a', { mode }),
    sandbox.files.chmod('a', mode),
  ])
    await expect(refused).rejects.toMatchObject({ code: 'argument_invalid' })
  expect(lines).toEqual([])
})

it('extracts a file of the sandbox without sending a body', async () => {
  const types: unknown[] = []
  const { sandbox } = await newScene(({ request, json }) => {
    types.push(request.headers['content-type'])
    json({ files: 1 })
  })
  await sandbox.files.extract('a.tar')
  await sandbox.files.extract('a.tar', new Uint8Array(3))
  expect(types).toEqual([undefined, 'application/octet-stream'])
})

it('keeps no copy of the bytes that it has sent', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { sandbox } = await newScene(async ({ request, json }) => {
    for await (const _part of request);
    json({ path: 'a' })
  })
  let sent = 0
  let most = 0
  const source = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        sent += 1
        if (sent % 250 === 0) {
          // V8 frees buffers after the collection, in a thread of its own: the second one waits for it.
          collect()
          await new Promise(setImmediate)
          collect()
          most = Math.max(most, process.memoryUsage().arrayBuffers)
        }
        controller.enqueue(new Uint8Array(64 * 1024))
        if (sent === 2_000) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  await sandbox.files.write('a', source)
  expect(most).toBeLessThan(60 * 1024 ** 2)
})
