import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'

const result = { outcome: 'cancelled', exitCode: null, signal: 'SIGKILL', stdout: 'so far' }

it('returns the server’s response for a cancelled call', async () => {
  const calls = new Map<string, () => void>()
  const { sandbox, lines } = await newScene(({ line, request, response, json }) => {
    const [, called] = /^DELETE .*\/calls\/(.+)$/.exec(line) ?? []
    if (called === undefined) calls.set(String(request.headers['vitrine-call']), () => json(result))
    else {
      calls.get(called)?.()
      response.writeHead(204).end()
    }
  })
  const caller = new AbortController()
  const running = sandbox.exec('sleep 1000', { signal: caller.signal })
  await expect.poll(() => calls.size).toBe(1)
  caller.abort()
  expect(await running).toEqual(result)
  expect([...calls.keys()][0]).toMatch(/^[\w.-]{8,128}$/)
  expect(lines[0]).toBe('POST /v1/sandboxes/sbx_1/exec')
})

it('repeats the cancellation when it reaches the server before the call', async () => {
  let respond: (() => void) | undefined
  let cancellations = 0
  const { sandbox } = await newScene(({ line, response, json }) => {
    if (!line.startsWith('DELETE')) {
      respond = () => json(result)
      return
    }
    cancellations += 1
    if (cancellations === 3) respond?.()
    response.writeHead(204).end()
  })
  const caller = new AbortController()
  const running = sandbox.exec('sleep 1000', { signal: caller.signal })
  await expect.poll(() => respond).toBeDefined()
  caller.abort()
  expect(await running).toEqual(result)
})

it('sends a call that was cancelled before its start without a body, and throws the server’s error', async () => {
  let isCancelled = false
  const source = new ReadableStream<Uint8Array>(
    {
      cancel() {
        isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  const bodies: number[] = []
  const { sandbox, lines } = await newScene(async ({ request, body, problem }) => {
    bodies.push((await body()).length)
    problem(request.headers['vitrine-cancelled'] === 'true' ? 'cancelled' : 'internal', 499)
  })
  await expect(sandbox.files.write('a', source, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'cancelled',
    message: 'It is cancelled.',
  })
  expect({ lines: lines.length, bodies, isCancelled }).toEqual({ lines: 1, bodies: [0], isCancelled: true })
})

it('drops the connection when the server does not respond to a cancellation', async () => {
  const responses: ServerResponse[] = []
  const { sandbox, lines } = await newScene(({ response }) => void responses.push(response), { cancelMs: 50 })
  const caller = new AbortController()
  const asked = sandbox.files.stat('a', { signal: caller.signal })
  asked.catch(() => undefined)
  await expect.poll(() => lines.length).toBe(1)
  caller.abort()
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
  await expect.poll(() => responses[0]?.destroyed).toBe(true)
  await expect(sandbox.files.stat('a', { signal: caller.signal })).rejects.toMatchObject({
    code: 'cancelled',
  })
})

it('sends no call id without a signal', async () => {
  const seen: unknown[] = []
  const { sandbox } = await newScene(({ request, json }) => {
    seen.push(request.headers['vitrine-call'])
    json({})
  })
  await sandbox.files.stat('a')
  expect(seen).toEqual([undefined])
})
