import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'

const result = {
  outcome: 'ok',
  exitCode: 0,
  signal: null,
  stdout: 'out',
  stderr: '',
  truncated: false,
  durationMs: 3,
}

async function recording() {
  const seen: { path: string; options: unknown; body: string }[] = []
  const scene = await newScene(async ({ line, query, body, json }) => {
    const options = query.get('options')
    seen.push({
      path: line.replace('POST /v1/sandboxes/sbx_1', ''),
      options: options === null ? undefined : JSON.parse(options),
      body: (await body()).toString(),
    })
    json(result)
  })
  return { ...scene, seen }
}

it('sends a command with its options and returns the result', async () => {
  const { sandbox, seen } = await recording()
  expect(await sandbox.exec('ls', { cwd: 'a', timeoutMs: 1.5, env: { A: '1' } })).toEqual(result)
  await sandbox.exec(['ls', '-a'], { stdin: 'é', shell: ['bash', '-lc'] })
  await sandbox.exec('cat', { stdin: new Uint8Array([0, 255]) })
  expect(seen.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    ['/exec', { command: 'ls', cwd: 'a', timeoutMs: 1.5, env: { A: '1' } }],
    ['/exec', { command: ['ls', '-a'], stdin: 'é', shell: ['bash', '-lc'] }],
    ['/exec', { command: 'cat', stdin: 'AP8=', stdinEncoding: 'base64' }],
  ])
})

it('sends large input and streams as raw bytes', async () => {
  const { sandbox, seen } = await recording()
  await sandbox.exec('cat', { stdin: 'x'.repeat(300_000) })
  await sandbox.exec('cat', { stdin: new Blob(['streamed']).stream(), user: 'u' })
  expect(seen.map(({ path, options, body }) => [path, options, body.length])).toEqual([
    ['/exec/input', { command: 'cat' }, 300_000],
    ['/exec/input', { command: 'cat', user: 'u' }, 8],
  ])
})

it('sends a command that is too long for a query as JSON together with its input', async () => {
  const { sandbox, seen } = await recording()
  const command = `echo ${'x'.repeat(10_000)}`
  await sandbox.exec(command, { stdin: new Blob(['streamed']).stream() })
  expect(seen[0]?.path).toBe('/exec')
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
    command,
    stdin: btoa('streamed'),
    stdinEncoding: 'base64',
  })
})

it('returns the result of a program that does not read its input', async () => {
  const { sandbox } = await newScene(({ request, json }) => {
    request.resume()
    json({ ...result, exitCode: 4 })
  })
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
  })
  expect(await sandbox.exec('exit 4', { stdin: endless })).toMatchObject({ exitCode: 4 })
})

it('returns the outcome cancelled when its caller cancels', async () => {
  let isGone = false
  const { sandbox, lines } = await newScene(
    ({ response }) => {
      response.once('close', () => {
        isGone = true
      })
    },
    { cancelMs: 50 },
  )
  const caller = new AbortController()
  const running = sandbox.exec('sleep 1000', { signal: caller.signal })
  await expect.poll(() => lines.length).toBe(1)
  caller.abort()
  const cancelled = { outcome: 'cancelled', exitCode: null, signal: null, stdout: '', truncated: false }
  expect(await running).toMatchObject(cancelled)
  await expect.poll(() => isGone).toBe(true)
  expect(await sandbox.exec('ls', { signal: caller.signal })).toMatchObject(cancelled)
})

it.each([Number.NaN, Number.POSITIVE_INFINITY])(
  'refuses the time limit %d, which JSON cannot hold',
  async (timeoutMs) => {
    const { sandbox } = await newScene(() => undefined)
    await expect(sandbox.exec('true', { timeoutMs })).rejects.toMatchObject({ code: 'argument_invalid' })
    await expect(sandbox.spawn('true', { timeoutMs })).rejects.toMatchObject({ code: 'argument_invalid' })
  },
)

it.each([0, -1])('lets the daemon refuse the time limit %d', async (timeoutMs) => {
  const { sandbox } = await newScene(async ({ body, json, problem }) => {
    if (JSON.parse((await body()).toString()).timeoutMs === timeoutMs) problem('argument_invalid', 400)
    else json(result)
  })
  await expect(sandbox.exec('true', { timeoutMs })).rejects.toMatchObject({ code: 'argument_invalid' })
  await expect(sandbox.spawn('true', { timeoutMs })).rejects.toMatchObject({ code: 'argument_invalid' })
})
