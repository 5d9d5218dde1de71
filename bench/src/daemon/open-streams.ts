import type { Socket } from 'node:net'
import { openConnection, type RawRequest, requestHead } from './connection.ts'

export interface StreamsJob {
  readonly port: number
  /** The request for the event stream. */
  readonly request: RawRequest
  readonly count: number
}

export interface StreamsFigures {
  /** Bytes that were read on all streams. */
  readonly bytes: number
  /** How many of the streams the daemon left open. */
  readonly open: number
}

const streams: Socket[] = []
let bytes = 0

/** Opens streams, all at once, and reads them as fast as they come until `closeStreams`. */
export async function openStreams({ port, request, count }: StreamsJob): Promise<void> {
  bytes = 0
  const head = requestHead(request)
  const opened = Array.from({ length: count }, async () => {
    const socket = await openConnection(port, (part) => {
      bytes += part.byteLength
    })
    socket.on('error', () => undefined)
    socket.write(head)
    return socket
  })
  streams.push(...(await Promise.all(opened)))
}

export async function closeStreams(_job: { readonly port: number }): Promise<StreamsFigures> {
  const closing = streams.splice(0)
  const open = closing.filter(({ destroyed }) => !destroyed).length
  for (const socket of closing) socket.destroy()
  return { bytes, open }
}
