import { fromProblem } from '@vitrine/protocol'
import { connectionFailed } from '../http/failures.ts'
import type { HttpClient } from '../http/http-client.ts'
import { type RequestOptions, type RequestResult, request } from '../http/request.ts'
import { type Frame, SseParser } from './sse-parser.ts'

/** Requests a stream of frames. */
export async function requestFrames(http: HttpClient, options: RequestOptions): Promise<FrameReader> {
  const headers = { ...options.headers, accept: 'text/event-stream' }
  const result = await request(http, { ...options, headers })
  const type = result.response.headers.get('content-type') ?? 'none'
  if (type.startsWith('text/event-stream')) return new FrameReader(result, http.timing.idleMs)
  result.cancellation.end('reader-stopped')
  const { status } = result.response
  throw connectionFailed(
    `${result.endpoint}: expected an event stream, got ${status} with content-type ${type}.`,
    undefined,
    status,
  )
}

/** The frames of one connection, read on demand. */
export class FrameReader {
  readonly #result: RequestResult
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #parser = new SseParser()
  readonly #idleMs: number
  #frames: Frame[] = []
  #reading: Promise<boolean> | undefined

  constructor(result: RequestResult, idleMs: number) {
    this.#result = result
    this.#idleMs = idleMs
    this.#reader = result.response.body?.getReader()
    result.cancellation.stopTimeLimit()
  }

  /** The next frame; undefined when the connection has ended. */
  async next(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.#frames.shift()
      if (frame !== undefined) return frame
      if (!(await this.readAhead())) return undefined
    }
  }

  /** Reads one chunk in advance, so that it is not lost with the connection. */
  readAhead(): Promise<boolean> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<boolean> {
    const { cancellation } = this.#result
    const idleTimer = setTimeout(() => cancellation.end('silent'), this.#idleMs)
    try {
      const part = await this.#reader?.read()
      if (part === undefined || part.done) {
        cancellation.detach()
        return false
      }
      this.#frames = [...this.#frames, ...this.#parser.push(part.value)]
      return true
    } catch (error) {
      cancellation.detach()
      throw cancellation.error(error)
    } finally {
      clearTimeout(idleTimer)
    }
  }

  close(): void {
    this.#result.cancellation.end('reader-stopped')
    this.#reader?.cancel().catch(() => undefined)
  }

  /** The error of a stream that ended without an `end` frame. */
  cutError(): Error {
    return connectionFailed(`${this.#result.endpoint}: the connection was lost before the end of the stream.`)
  }
}

export function dataOf(frame: Frame): unknown {
  try {
    return frame.data === '' ? {} : JSON.parse(frame.data)
  } catch (error) {
    throw connectionFailed('The stream contains a frame that is not JSON.', error)
  }
}

/** The error in an `error` frame. */
export function errorOf(frame: Frame): Error {
  return fromProblem(dataOf(frame))
}
