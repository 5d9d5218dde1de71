import { toProblem } from '@vitrine/protocol'
import { securityHeaders } from '../guard/headers.ts'
import { closingParts } from '../http/body.ts'
import { HttpResponse } from '../http/http-response.ts'
import { frame } from './frames.ts'

/** What a stream is made of. */
export interface StreamSource {
  /** The next chunk; nothing once it is over. */
  next(): Promise<Uint8Array | undefined>
  /** Said at the start, and whenever nothing else was said for a while. */
  heartbeat(): unknown
  /** The last word of a stream that was not cut. */
  end(): unknown
  /** Lets go of everything; a `next` that waits comes to its end. */
  close(): void
}

export interface StreamLimits {
  readonly heartbeatMs: number
  /** How long a reader may take for what it was given before its connection is closed. */
  readonly stallMs: number
}

/** Server-sent events, pulled: a reader that does not read costs one chunk and, after a while, its connection. */
export function eventStream(source: StreamSource, { heartbeatMs, stallMs }: StreamLimits): HttpResponse {
  const headers = { ...securityHeaders, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
  const body = closingParts(streamFrames(source, heartbeatMs), () => source.close())
  return new HttpResponse(200, headers, body, stallMs)
}

async function* streamFrames(
  source: StreamSource,
  heartbeatMs: number,
): AsyncGenerator<Uint8Array, undefined> {
  try {
    let next = source.next()
    next.catch(() => undefined)
    yield frame('heartbeat', source.heartbeat())
    for (;;) {
      const chunk = await orIdle(next, heartbeatMs)
      if (chunk === undefined) break
      yield chunk === 'quiet' ? frame('heartbeat', source.heartbeat()) : chunk
      if (chunk !== 'quiet') next = source.next()
    }
    yield frame('end', source.end())
  } catch (error) {
    yield frame('error', toProblem(error))
  } finally {
    source.close()
  }
  return undefined
}

async function orIdle<T>(promise: Promise<T>, milliseconds: number): Promise<T | 'quiet'> {
  const { promise: idle, resolve } = Promise.withResolvers<'quiet'>()
  const timer = setTimeout(resolve, milliseconds, 'quiet')
  try {
    return await Promise.race([promise, idle])
  } finally {
    clearTimeout(timer)
  }
}
