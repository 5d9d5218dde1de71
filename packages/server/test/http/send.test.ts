import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HttpResponse } from '../../src/http/http-response.ts'
import { send } from '../../src/http/send.ts'
import { dial } from '../raw.ts'

/** More than the buffers of both sides of a connection hold. */
const large = 'é'.repeat(12 * 1024 * 1024)
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`

/** Serves bodies by their path, and notes how each response was closed. */
async function serve(bodies: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>, idleMs = 60_000) {
  const closed = new Map<string, 'finished' | 'cut'>()
  const begin = (path: string, outgoing: ServerResponse) => {
    outgoing.once('close', () => closed.set(path, outgoing.writableFinished ? 'finished' : 'cut'))
    return send(new HttpResponse(200, { 'x-own': 'kept' }, bodies[path]!), outgoing, idleMs)
  }
  const server = createServer((incoming, outgoing) => void begin(incoming.url!, outgoing))
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return { closed, port: (server.address() as AddressInfo).port }
}

describe('A body in one piece', () => {
  it.each([
    ['an empty text', ''],
    ['a small text', 'é'],
    ['a large text', 'aé€😀'.repeat(100_000)],
    ['large bytes', new Uint8Array(1024 * 1024 + 1).fill(7)],
  ])('is sent whole, with its length: %s', async (_, body) => {
    const { port } = await serve({ '/': body })
    const response = await fetch(`http://127.0.0.1:${port}/`)
    const expected = Buffer.from(body as string)
    expect(response.headers.get('content-length')).toBe(String(expected.length))
    expect(response.headers.get('x-own')).toBe('kept')
    expect(Buffer.from(await response.arrayBuffer()).equals(expected)).toBe(true)
  })

  it('is cut when its reader does not read, so that its memory is not held for ever', async () => {
    const { closed, port } = await serve({ '/large': large }, 200)
    using reader = await dial(port, get('/large'))
    reader.socket.pause()
    await expect.poll(() => closed.get('/large'), { timeout: 20_000 }).toBe('cut')
  })

  it('is cut also when it is small and waits behind the response to an earlier request', async () => {
    const { closed, port } = await serve({ '/large': large, '/small': 'small' }, 200)
    using reader = await dial(port, get('/large') + get('/small'))
    reader.socket.pause()
    await expect.poll(() => closed.get('/small'), { timeout: 20_000 }).toBe('cut')
  })
})
