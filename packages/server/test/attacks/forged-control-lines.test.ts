import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allEvents, openDaemon, type ResponseJson, type TestDaemon, token } from '../daemon.ts'
import { framesUntil } from '../frames.ts'
import { dialSocket, terminalPath } from '../sockets/dialling.ts'

const event = {
  journal: 'x',
  seq: 1,
  type: 'process.exited',
  source: 'engine',
  data: { process: 'x', outcome: 'ok', exitCode: 0 },
}
/** Lines that would be control messages if the daemon trusted a program's output. */
const forged = [
  '\n\nevent: end\ndata: {"reason":"complete"}\n\n',
  `\n\nid: forged\ndata: ${JSON.stringify(event)}\n\n`,
  '\r\n\r\nevent: error\r\ndata: {"code":"internal"}\r\n\r\n',
  `${JSON.stringify(event)}\n`,
  '{"type":"exit","exitCode":0,"signal":null,"outcome":"ok"}\n',
  '{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}\n',
  '__EXIT__:0\n__VITRINE_EXIT__=0\nexit 0\n',
  '\0\x04exit 0\0',
  '0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
].join('')
const command = ['sh', '-c', 'cat lines; cat lines >&2; exit 3']

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
  await daemon.fetch('/v1/files/content?path=lines', { method: 'PUT', body: forged })
})
afterAll(() => daemon.close())

const spawn = (body: object) => daemon.call('POST', '/v1/processes', body)
const exitsOf = async (id: string) =>
  (await allEvents(daemon, '&types=process.exited')).filter(({ data }) => data.process === id)

describe('a program that prints forged control lines', () => {
  it('keeps its own exit and its output, to the byte', async () => {
    const result = await daemon.call('POST', '/v1/exec', { command })
    expect(result).toMatchObject({ outcome: 'failed', exitCode: 3, stdout: forged, stderr: forged })
    const finished = (await allEvents(daemon, '&types=operation.finished')).at(-1)
    expect(finished).toMatchObject({ source: 'engine', data: { op: 'exec', outcome: 'failed', exitCode: 3 } })
  })

  it('ends once, with its real exit, in the journal and in responses', async () => {
    const { id } = await spawn({ command })
    const info = await daemon.call('GET', `/v1/processes/${id}?wait=50000`)
    expect(info).toMatchObject({ state: 'exited', exitCode: 3, exit: { outcome: 'failed' } })
    expect(await exitsOf(id)).toMatchObject([{ source: 'engine', data: { outcome: 'failed', exitCode: 3 } }])
  })

  it('adds no frame to a stream of its output, and does not end it', async () => {
    const { id } = await spawn({ command: ['sh', '-c', 'cat lines; read more; cat lines; exit 3'] })
    const response = await daemon.fetch(`/v1/processes/${id}/logs?follow=true`)
    const reading = framesUntil(response, ({ event: name }) => name === 'end')
    await daemon.call('POST', `/v1/processes/${id}/input`, { data: 'go\n' })
    const frames = await reading
    const names = new Set(frames.map(({ event: name }) => name))
    expect([...names].sort()).toEqual(['end', 'heartbeat', 'message'])
    expect(frames.filter(({ event: name }) => name === 'end')).toHaveLength(1)
    const said = frames.filter(({ event: name }) => name === 'message')
    expect(said.map(({ data }) => Buffer.from(data.data, 'base64').toString()).join('')).toBe(forged + forged)
  })

  it('adds no event to the stream of the journal', async () => {
    const { cursor } = await daemon.call('GET', '/v1/events?order=desc&limit=1&types=process.exited')
    const { id } = await spawn({ command })
    const response = await daemon.fetch('/v1/events', { headers: { accept: 'text/event-stream' } })
    const frames = await framesUntil(
      response,
      ({ data }) => data.type === 'process.exited' && data.data.process === id,
    )
    const events = frames.filter(({ event: name }) => name === 'message')
    expect(events.map(({ data }) => data.seq)).toEqual(events.map((_, index) => index + 1))
    expect(events.every(({ data }) => data.journal === daemon.sandbox)).toBe(true)
    expect(new Set(frames.map(({ event: name }) => name))).toEqual(new Set(['heartbeat', 'message']))
    expect(events.at(-1)?.data).toMatchObject({ source: 'engine', data: { exitCode: 3 } })
    expect(cursor).toEqual(expect.any(String))
  })

  it('sends nothing as JSON on the WebSocket of its terminal', async () => {
    const { id } = await spawn({ command: ['sh', '-c', 'read go; cat lines; exit 3'], tty: true })
    const socket = dialSocket(daemon, terminalPath(id), { token })
    await socket.opened
    socket.sendJson({ type: 'input', data: 'go\n' })
    expect((await socket.closed).code).toBe(1000)
    expect(socket.messages).toEqual([
      { type: 'ready', processId: id },
      { type: 'exit', exitCode: 3, signal: null, outcome: 'failed' },
    ])
    expect(socket.output).toContain('"exitCode":0')
  })

  it('has no file descriptor of the daemon', async () => {
    const script = [
      'for fd in $(ls /proc/self/fd); do',
      '  [ "$fd" -gt 2 ] && { cat lines >&"$fd"; } 2>/dev/null',
      'done; exit 3',
    ]
    const result = await daemon.call('POST', '/v1/exec', { command: ['bash', '-c', script.join('\n')] })
    expect(result).toMatchObject({ outcome: 'failed', exitCode: 3 })
    const after: ResponseJson = await daemon.call('POST', '/v1/exec', { command: 'echo true' })
    expect(after).toMatchObject({ outcome: 'ok', stdout: 'true\n' })
  })

  it('cannot record events that only the engine may write', async () => {
    for (const type of ['process.exited', 'operation.finished', 'turn.finished', 'foreign.event']) {
      const response = await daemon.fetch('/v1/events', {
        method: 'POST',
        body: JSON.stringify({ events: [{ ...event, type }] }),
        headers: { 'content-type': 'application/json' },
      })
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(response.status).toBeLessThan(500)
    }
    const recorded = {
      type: 'log.message',
      source: 'engine',
      actor: 'root',
      data: { level: 'info', message: 'me' },
    }
    const response = await daemon.fetch('/v1/events', {
      method: 'POST',
      body: JSON.stringify({ events: [recorded] }),
      headers: { 'content-type': 'application/json' },
    })
    const last = (await allEvents(daemon, '&types=log.message')).at(-1)
    if (response.ok) expect(last).toMatchObject({ data: { message: 'me' } })
    expect(last?.source).not.toBe('engine')
  })
})
