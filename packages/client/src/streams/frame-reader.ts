import { fromProblem } from '@vitrine/protocol'
import { connectionFailed } from '../http/failures.ts'
import type { HttpClient } from '../http/http-client.ts'
import { type RequestOptions, type RequestResult, request } from '../http/request.ts'
import { type Frame, SseParser } from './sse-parser.ts'

/** Asks for a stream of frames. */
export async function requestFrames(http: HttpClient, options: RequestOptions): Promise<FrameReader> {
  const headers = { ...options.headers, accept: 'text/event-stream' }
  const result = await request(http, { ...options, headers })
  const type = result.response.headers.get('content-type') ?? 'nothing'
  if (type.startsWith('text/event-stream')) return new FrameReader(result, http.timing.idleMs)
  result.cancellation.end('left')
  const { status } = result.response
  throw connectionFailed(
    `${result.endpoint}: expected a stream, got ${status} with ${type}.`,
    undefined,
    status,
  )
}

/** The frames of one connection, read no further than whoever asks for them. */
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
    result.cancellation.beginStream()
  }

  /** The next one; nothing once the connection has ended, in whatever way it ended. */
  async next(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.#frames.shift()
      if (frame !== undefined) return frame
      if (!(await this.readAhead())) return undefined
    }
  }

  /** Reads one chunk, so that it is here whatever becomes of the connection. */
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
        cancellation.release()
        return false
      }
      this.#frames = [...this.#frames, ...this.#parser.push(part.value)]
      return true
    } catch (error) {
      cancellation.release()
      throw cancellation.error(error)
    } finally {
      clearTimeout(idleTimer)
    }
  }

  close(): void {
    this.#result.cancellation.end('left')
    this.#reader?.cancel().catch(() => undefined)
  }

  /** A stream that is over without having said so was cut. */
  cutError(): Error {
    return connectionFailed(`${this.#result.endpoint}: the stream was cut.`)
  }
}

export function dataOf(frame: Frame): unknown {
  try {
    return frame.data === '' ? {} : JSON.parse(frame.data)
  } catch (error) {
    throw connectionFailed('The stream held a frame that is not JSON.', error)
  }
}

/** What an `error` frame says. */
export function errorOf(frame: Frame): Error {
  return fromProblem(dataOf(frame))
}
