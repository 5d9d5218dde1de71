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
  /** 0 if the connection was cut before a response arrived. */
  readonly status: number
}

const partBytes = 256 * 1024

/** Uploads a body and waits for the response. */
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

/** Downloads a body. */
export async function download(job: TransferJob): Promise<TransferFigures> {
  const { ms, status, bodyBytes } = await exchange(job)
  // Also detects a download that was cut.
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
  // A server that refuses a body may cut the connection during the upload.
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
