import { once } from 'node:events'
import type { Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'
import { openConnection, type Request, requestHead } from './connection.ts'

export interface TransferOrder {
  readonly port: number
  readonly request: Request
  readonly bytes: number
}

export interface TransferFigures {
  readonly ms: number
  /** 0 where the connection was cut before anybody could read an answer. */
  readonly status: number
}

const partBytes = 256 * 1024

/** All of a body up, until it is answered. */
export async function upload(order: TransferOrder): Promise<TransferFigures> {
  const length = { 'content-length': String(order.bytes) }
  const request = { ...order.request, headers: { ...order.request.headers, ...length } }
  const { ms, status } = await exchange({ ...order, request }, async (socket) => {
    const part = Buffer.alloc(partBytes, 'vitrine ')
    for (let left = order.bytes; left > 0 && !socket.destroyed; left -= partBytes)
      if (!socket.write(part.subarray(0, Math.min(left, partBytes)))) await once(socket, 'drain')
  })
  return { ms, status }
}

/** All of a body down. */
export async function download(order: TransferOrder): Promise<TransferFigures> {
  const { ms, status, bodyBytes } = await exchange(order)
  // Also where it was cut half-way.
  if (status === 200 && bodyBytes !== order.bytes)
    throw new Error(`Expected ${order.bytes} bytes, got ${bodyBytes}.`)
  return { ms, status }
}

async function exchange({ port, request }: TransferOrder, send?: (socket: Socket) => Promise<void>) {
  const reader = new AnswerReader()
  const { promise: answered, resolve } = Promise.withResolvers<void>()
  const socket = await openConnection(port, (bytes) => {
    if (reader.feed(bytes)) resolve()
  })
  // Who refuses a body may cut the connection while it is sent.
  socket.on('error', () => resolve())
  socket.on('close', () => resolve())
  const began = performance.now()
  socket.write(requestHead(request))
  send?.(socket).catch(() => resolve())
  await answered
  const ms = performance.now() - began
  socket.destroy()
  return { ms, status: reader.status, bodyBytes: reader.bodyBytes }
}
