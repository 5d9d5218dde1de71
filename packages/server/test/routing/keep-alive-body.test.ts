import { toProblem } from '@vitrine/protocol'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { closingParts } from '../../src/http/body.ts'
import { HttpResponse } from '../../src/http/http-response.ts'
import { jsonResponse } from '../../src/responses/json.ts'
import { withKeepAlive } from '../../src/responses/keep-alive-body.ts'
import { problemResponse } from '../../src/responses/problem.ts'
import { allEvents, jsonBody, openDaemon, type TestDaemon } from '../daemon.ts'
import { dial, readResponse } from '../raw.ts'

const patience = { timeout: 50_000 }

describe('a response with keep-alive', () => {
  const pending = () => Promise.withResolvers<HttpResponse>()

  it('a response that is ready early is sent unchanged', async () => {
    const response = new HttpResponse(201, { 'x-own': 'kept' }, '{"a":1}')
    expect(await withKeepAlive(Promise.resolve(response), 60_000)).toBe(response)
    const problem = problemResponse(toProblem(new Error('no')))
    expect((await withKeepAlive(Promise.resolve(problem), 60_000)).status).toBe(500)
    await expect(withKeepAlive(Promise.reject(new Error('broken')), 60_000)).rejects.toThrow('broken')
  })

  it('sends its headers early, then spaces, and in the end its JSON', async () => {
    const { promise, resolve } = pending()
    const response = (await withKeepAlive(promise, 5)).toResponse()
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    const parts = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    for (let count = 0; count < 3; count += 1) expect((await parts.read()).value).toMatch(/^ +$/)
    resolve(new HttpResponse(200, {}, '{"a":1}'))
    let rest = ''
    for (let part = await parts.read(); !part.done; part = await parts.read()) rest += part.value
    expect(JSON.parse(rest)).toEqual({ a: 1 })
    expect(rest).toMatch(/^ *\{"a":1\}$/)
  })

  it('a response that ends as a problem is recognized by its type', async () => {
    const { promise, resolve } = pending()
    const response = (await withKeepAlive(promise, 1)).toResponse()
    resolve(problemResponse(toProblem(new Error('no'))))
    expect(await response.json()).toMatchObject({
      type: expect.stringMatching(/^urn:vitrine:error:/),
      status: 500,
      hint: expect.any(String),
    })
  })

  it('a response that fails does not look complete', async () => {
    const { promise, reject } = pending()
    const response = (await withKeepAlive(promise, 1)).toResponse()
    reject(new Error('broken'))
    await expect(response.text()).rejects.toThrow()
  })

  it('large JSON that holds a slot is sent in parts, and releases it', async () => {
    const { promise, resolve } = pending()
    const response = (await withKeepAlive(promise, 1)).toResponse()
    let released = 0
    const large = jsonResponse(200, 'x'.repeat(600_000))
    resolve(large.releasing(() => (released += 1), 60_000))
    expect((await response.text()).trim().length).toBe(600_002)
    expect(released).toBe(1)
  })

  it('large JSON that is ready after its caller has left releases its slot', async () => {
    const { promise, resolve } = pending()
    const response = (await withKeepAlive(promise, 1)).toResponse()
    await response.body!.cancel()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    resolve(jsonResponse(200, 'x'.repeat(600_000)).releasing(release, 60_000))
    await released
  })

  it('a response that turns out to be a stream fails, and the source of the stream is closed', async () => {
    const { promise, resolve } = pending()
    const response = (await withKeepAlive(promise, 1)).toResponse()
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    resolve(new HttpResponse(200, {}, closingParts((async function* () {})(), close)))
    await expect(response.text()).rejects.toThrow('not JSON')
    await closed
  })

  it('is dropped without an error when the client disconnects', async () => {
    const complaints: unknown[] = []
    const complain = (reason: unknown) => complaints.push(reason)
    process.on('unhandledRejection', complain)
    onTestFinished(() => void process.off('unhandledRejection', complain))
    for (const end of ['resolve', 'reject'] as const) {
      const { promise, ...ends } = pending()
      const response = (await withKeepAlive(promise, 1)).toResponse()
      const reader = response.body!.getReader()
      await reader.read()
      await reader.cancel()
      if (end === 'resolve') ends.resolve(new HttpResponse(200, {}, '{}'))
      else ends.reject(new Error('late'))
      await promise.catch(() => undefined)
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
    }
    expect(complaints).toEqual([])
  })
})

describe('a daemon', () => {
  let daemon: TestDaemon
  beforeAll(async () => {
    daemon = await openDaemon()
  })
  afterAll(() => daemon.close())

  const exec = (command: string) => {
    const { body, headers } = jsonBody({ command })
    return daemon.fetch('/v1/exec', {
      ...{ method: 'POST', body },
      headers: { ...headers, 'vitrine-keepalive': 'true' },
    })
  }

  /** A request of which every byte is seen. */
  const dialled = ({ port, token }: TestDaemon, command: string, headers: string) => {
    const body = JSON.stringify({ command })
    return dial(
      port,
      `POST /v1/exec HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`,
    )
  }

  it('responds at once where it can, with the right status', async () => {
    const quick = await exec('echo quick')
    expect(quick.headers.get('content-length')).not.toBeNull()
    expect(await quick.json()).toMatchObject({ stdout: 'quick\n' })
    const wrong = await exec('echo a\0b')
    expect(wrong.status).toBe(400)
    expect(wrong.headers.get('content-type')).toBe('application/problem+json')
  })

  it('sends a stream to a client that accepts one, also with keep-alive', async () => {
    await using daemon = await openDaemon({ limits: { keepAliveMs: 1 } })
    await daemon.call('PUT', '/v1/files/content?path=a')
    const response = await daemon.fetch('/v1/events', {
      headers: { accept: 'text/event-stream', 'vitrine-keepalive': 'true' },
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    await response.body?.cancel()
  })

  it('sends keep-alive spaces while a command runs, only to clients that requested them', async () => {
    await using daemon = await openDaemon({ cors: ['https://app.example.com'], limits: { keepAliveMs: 50 } })
    const wait = 'until [ -e enough ]; do sleep 0.1; done; echo done'
    using keptAlive = await dialled(
      daemon,
      wait,
      'vitrine-keepalive: true\r\norigin: https://app.example.com\r\n',
    )
    using plain = await dialled(daemon, wait, '')
    using off = await dialled(daemon, wait, 'vitrine-keepalive: false\r\n')
    using leaving = await dialled(daemon, 'echo $$; exec sleep 600', 'vitrine-keepalive: true\r\n')
    await expect.poll(() => leaving.text, patience).toMatch(/\r\n\r\n1\r\n \r\n/)
    leaving.socket.destroy()
    await expect.poll(() => keptAlive.text, patience).toMatch(/\r\n\r\n1\r\n \r\n/)
    const { status, headers } = readResponse(keptAlive.text)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com')
    expect([plain.text, off.text]).toEqual(['', ''])
    await daemon.call('PUT', '/v1/files/content?path=enough')
    for (const one of [keptAlive, plain, off])
      await expect.poll(() => one.text, patience).toContain('"stdout":"done\\n"')
    // A client that disconnects ends the command, as without keep-alive.
    const ended = async () =>
      (await allEvents(daemon, '&types=operation.finished')).map(({ data }) => data.outcome)
    await expect.poll(ended, patience).toContain('cancelled')
  }, 100_000)
})
