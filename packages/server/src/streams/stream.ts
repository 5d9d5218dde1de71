import type { Problem } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import { securityHeaders } from '../guard/headers.ts'
import { closingParts } from '../http/body.ts'
import { HttpResponse } from '../http/http-response.ts'
import { frame } from './frames.ts'

/** The source of an event stream. */
export interface EventStreamSource {
  /** The next chunk; undefined at the end. */
  next(): Promise<Uint8Array | undefined>
  /** Whether the next chunk costs no read: its events are in memory, or not committed yet. */
  isLive?(): boolean
  /** Data of the heartbeat that is sent at the start and when the stream is idle. */
  heartbeat(): unknown
  /** Data of the `end` frame. */
  end(): unknown
  /** Releases everything; a pending `next` settles. */
  close(): void
}

export interface StreamSettings {
  readonly heartbeatMs: number
  /** How long a reader may take for one chunk before its connection is closed. */
  readonly stallMs: number
  readonly problemOf: (error: unknown) => Problem
}

/** Server-sent events, produced on demand: a stalled reader costs one chunk and is disconnected after `stallMs`. */
export function eventStream(source: EventStreamSource, settings: StreamSettings): HttpResponse {
  const headers = { ...securityHeaders, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
  const parts = closingParts(streamFrames(source, settings), () => source.close())
  const body = { ...parts, isLive: () => source.isLive?.() ?? false }
  return new HttpResponse(200, headers, body, settings.stallMs)
}

async function* streamFrames(
  source: EventStreamSource,
  { heartbeatMs, problemOf }: StreamSettings,
): AsyncGenerator<Uint8Array, undefined> {
  try {
    let next = source.next()
    next.catch(() => undefined)
    yield frame('heartbeat', source.heartbeat())
    for (;;) {
      if (!(await settledWithin(next, heartbeatMs, { ref: true }))) {
        yield frame('heartbeat', source.heartbeat())
        continue
      }
      const chunk = await next
      if (chunk === undefined) break
      yield chunk
      next = source.next()
    }
    yield frame('end', source.end())
  } catch (error) {
    yield frame('error', problemOf(error))
  } finally {
    source.close()
  }
  return undefined
}
