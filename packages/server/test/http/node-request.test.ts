import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NodeRequest } from '../../src/http/node-request.ts'

/** Sends parts, each once the one before was read, and gives them to a reader of the body. */
async function receive<T>(
  parts: readonly Uint8Array[],
  read: (body: ReadableStream<Uint8Array>) => Promise<T>,
  headers: Record<string, string> = {},
): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>()
  const server = createServer((incoming, outgoing) => {
    resolve(read(new NodeRequest(incoming, outgoing).body!).finally(() => outgoing.end()))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const outgoing = request({ port, method: 'PUT', agent: false, headers })
  for (const part of parts) outgoing.write(part)
  outgoing.end()
  const response = once(outgoing, 'response')
  const result = await promise
  ;(await response)[0].resume()
  return result
}

/** With one buffer of a size, as long as there is something. */
function intoBuffer(bytes: number) {
  return async (body: ReadableStream<Uint8Array>) => {
    const reader = body.getReader({ mode: 'byob' })
    const got: Buffer[] = []
    for (let buffer = new ArrayBuffer(bytes); ; ) {
      const { done, value } = await reader.read(new Uint8Array(buffer))
      if (done) return Buffer.concat(got)
      got.push(Buffer.from(Uint8Array.from(value)))
      buffer = value.buffer
    }
  }
}

async function asTheyCome(body: ReadableStream<Uint8Array>): Promise<Buffer> {
  const got: Uint8Array[] = []
  for await (const part of body) got.push(part)
  return Buffer.concat(got)
}

const large = Array.from({ length: 40 }, (_, index) => Buffer.alloc(70_001, index + 1))
// Node joins parts as small as these in memory of its pool.
const small = Array.from({ length: 200 }, (_, index) => Buffer.from(`${index},`))

describe('The body of a large or open-ended request', () => {
  it.each([
    ['large', large],
    ['small', small],
  ])('fills the buffers that its reader brings with %s parts', async (_, parts) => {
    const sent = Buffer.concat(parts)
    for (const bytes of [1_000, 70_001, 300_000])
      expect((await receive(parts, intoBuffer(bytes))).equals(sent)).toBe(true)
    // The pool is still there for others.
    expect(Buffer.from('still here').toString()).toBe('still here')
  })

  it.each([
    ['large', large],
    ['small', small],
  ])('passes %s parts to a reader without buffers, which may keep them', async (_, parts) => {
    expect((await receive(parts, asTheyCome)).equals(Buffer.concat(parts))).toBe(true)
  })

  it('is the same with a declared length, small or large', async () => {
    for (const parts of [large, small]) {
      const sent = Buffer.concat(parts)
      const got = await receive(parts, asTheyCome, { 'content-length': String(sent.length) })
      expect(got.equals(sent)).toBe(true)
    }
  })
})
