import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'

const result = { outcome: 'cancelled', exitCode: null, signal: 'SIGKILL', stdout: 'so far' }

it('gives the answer of a call that was called off, which only the server knows', async () => {
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

it('calls off again what the server had not heard of when it was called off', async () => {
  let answer: (() => void) | undefined
  let told = 0
  const { sandbox } = await newScene(({ line, response, json }) => {
    if (!line.startsWith('DELETE')) {
      answer = () => json(result)
      return
    }
    told += 1
    if (told === 3) answer?.()
    response.writeHead(204).end()
  })
  const caller = new AbortController()
  const running = sandbox.exec('sleep 1000', { signal: caller.signal })
  await expect.poll(() => answer).toBeDefined()
  caller.abort()
  expect(await running).toEqual(result)
})

it('sends what was called off before it began, with nothing to work on, and throws what it is told', async () => {
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

it('gives up waiting for a server that says nothing, and drops the connection', async () => {
  const answers: ServerResponse[] = []
  const { sandbox, lines } = await newScene(({ response }) => void answers.push(response), { cancelMs: 50 })
  const caller = new AbortController()
  const asked = sandbox.files.stat('a', { signal: caller.signal })
  asked.catch(() => undefined)
  await expect.poll(() => lines.length).toBe(1)
  caller.abort()
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
  await expect.poll(() => answers[0]?.destroyed).toBe(true)
  await expect(sandbox.files.stat('a', { signal: caller.signal })).rejects.toMatchObject({
    code: 'cancelled',
  })
})

it('names no call that cannot be called off', async () => {
  const seen: unknown[] = []
  const { sandbox } = await newScene(({ request, json }) => {
    seen.push(request.headers['vitrine-call'])
    json({})
  })
  await sandbox.files.stat('a')
  expect(seen).toEqual([undefined])
})
