import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, listen } from '../../src/index.ts'
import { openDaemon, readToken, type TestDaemon, token } from '../daemon.ts'
import { dial, type RawConnection } from '../raw.ts'
import { journalOf, note } from '../streams/reading.ts'

const slots = 4
const large = '/events?types=log.message&limit=10000'
const small = '/events?limit=1'

let daemon: TestDaemon
/** The page of events is larger than the buffers of a connection. */
beforeAll(async () => {
  daemon = await openDaemon()
  const journal = await journalOf(daemon)
  const text = 'x'.repeat(60_000)
  for (let count = 0; count < 12; count += 1)
    await journal.append(Array.from({ length: 12 }, (_, index) => note(`${count * 12 + index} ${text}`)))
}, 60_000)
afterAll(() => daemon.close())

interface Readers extends Array<RawConnection>, Disposable {}

/** Requests the page with the read token, and reads no more than its beginning. */
async function stalled(count: number, port = daemon.port): Promise<Readers> {
  const head = `host: localhost\r\nauthorization: Bearer ${readToken}\r\nconnection: close`
  const request = `GET /v1/sandboxes/${daemon.sandbox}${large} HTTP/1.1\r\n${head}\r\n\r\n`
  const readers = await Promise.all(Array.from({ length: count }, () => dial(port, request)))
  for (const { socket } of readers) socket.once('data', () => socket.pause())
  const close = () => {
    for (const { socket } of readers) socket.destroy()
  }
  return Object.assign(readers, { [Symbol.dispose]: close })
}

const haveBegun = (readers: Readers) =>
  expect.poll(() => readers.filter(({ text }) => text !== '').length).toBe(readers.length)

/** A read of a token, which notes when it has its response. */
function read(by: string, query: string, url = daemon.url) {
  const state = { ended: false }
  const headers = { authorization: `Bearer ${by}` }
  const body = fetch(`${url}/v1/sandboxes/${daemon.sandbox}${query}`, { headers }).then(async (response) => {
    expect(response.status).toBe(200)
    const text = await response.text()
    state.ended = true
    return JSON.parse(text)
  })
  return { state, body }
}

/** Whether the connection was closed before all of the body was sent. */
async function wasCut({ socket, ended }: RawConnection): Promise<boolean> {
  socket.resume()
  const [head = '', body = ''] = (await ended).split('\r\n\r\n', 2)
  return body.length < Number(/content-length: (\d+)/i.exec(head)![1])
}

describe('Readers that request a large page and do not read it', () => {
  it('are disconnected after the limit, and others of their token are served', async () => {
    const tokens = [{ name: 'viewer', token: readToken, access: 'read' } as const]
    const server = createServer({ host: daemon.host, tokens, limits: { stallMs: 300 } })
    await using listening = await listen(server)
    using readers = await stalled(2 * slots, listening.port)
    expect((await read(readToken, small, listening.url).body).events).toHaveLength(1)
    await haveBegun(readers)
    // A slot goes to the read that waits longest. So the last one has a slot after five readers have lost theirs.
    const cut = await Promise.all(readers.map(wasCut))
    expect(cut.filter(Boolean).length).toBeGreaterThan(slots)
  })

  it('have their slots until they leave, and hold up no other token', async () => {
    using readers = await stalled(slots)
    await haveBegun(readers)
    const waiting = read(readToken, small)
    expect((await read(token, large).body).events.length).toBeGreaterThan(100)
    expect(waiting.state.ended).toBe(false)
    readers[0]!.socket.destroy()
    expect((await waiting.body).events).toHaveLength(1)
  })

  it('hold up a read that waits for new events only when it has one to read', async () => {
    const { cursor } = await read(token, '/events?order=desc&limit=1').body
    const query = `/events?types=log.message&wait=60000&after=${encodeURIComponent(cursor)}`
    const polls = Array.from({ length: 2 * slots }, () => read(readToken, query))
    // The polls wait without a slot.
    expect((await read(readToken, large).body).events.length).toBeGreaterThan(100)
    using readers = await stalled(slots)
    await haveBegun(readers)
    await (await journalOf(daemon)).append([note('new')])
    expect((await read(token, large).body).events.length).toBeGreaterThan(100)
    expect(polls.filter(({ state }) => state.ended)).toEqual([])
    readers[0]!.socket.destroy()
    for (const { body } of polls) expect((await body).events).toHaveLength(1)
  })
})
