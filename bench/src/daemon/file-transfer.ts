import { once } from 'node:events'
import type { Socket } from 'node:net'
import { openConnection, type RawRequest, requestHead } from './connection.ts'
import { ResponseReader } from './response-reader.ts'

export interface TransferJob {
  readonly port: number
  readonly request: RawRequest
  readonly bytes: number
}

export interface TransferFigures {
  readonly ms: number
  /** 0 where the connection was cut before anybody could read an answer. */
  readonly status: number
}

const partBytes = 256 * 1024

/** All of a body up, until it is answered. */
export async function upload(job: TransferJob): Promise<TransferFigures> {
  const length = { 'content-length': String(job.bytes) }
  const request = { ...job.request, headers: { ...job.request.headers, ...length } }
  const { ms, status } = await exchange({ ...job, request }, async (socket) => {
    const part = Buffer.alloc(partBytes, 'vitrine ')
    for (let left = job.bytes; left > 0 && !socket.destroyed; left -= partBytes)
      if (!socket.write(part.subarray(0, Math.min(left, partBytes)))) await once(socket, 'drain')
  })
  return { ms, status }
}

/** All of a body down. */
export async function download(job: TransferJob): Promise<TransferFigures> {
  const { ms, status, bodyBytes } = await exchange(job)
  // Also where it was cut half-way.
  if (status === 200 && bodyBytes !== job.bytes)
    throw new Error(`Expected ${job.bytes} bytes, got ${bodyBytes}.`)
  return { ms, status }
}

async function exchange({ port, request }: TransferJob, send?: (socket: Socket) => Promise<void>) {
  const reader = new ResponseReader()
  const { promise: responded, resolve } = Promise.withResolvers<void>()
  const socket = await openConnection(port, (bytes) => {
    if (reader.feed(bytes)) resolve()
  })
  // Who refuses a body may cut the connection while it is sent.
  socket.on('error', () => resolve())
  socket.on('close', () => resolve())
  const began = performance.now()
  socket.write(requestHead(request))
  send?.(socket).catch(() => resolve())
  await responded
  const ms = performance.now() - began
  socket.destroy()
  return { ms, status: reader.status, bodyBytes: reader.bodyBytes }
}
