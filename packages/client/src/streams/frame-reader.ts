import { fromProblem } from '@vitrine/protocol'
import { connectionFailed } from '../http/failures.ts'
import type { HttpClient } from '../http/http-client.ts'
import { type RequestOptions, type RequestResult, request } from '../http/request.ts'
import { type Frame, SseParser } from './sse-parser.ts'

/** Asks for a stream of frames. */
export async function askFrames(http: HttpClient, asked: RequestOptions): Promise<FrameReader> {
  const headers = { ...asked.headers, accept: 'text/event-stream' }
  const answer = await request(http, { ...asked, headers })
  const type = answer.response.headers.get('content-type') ?? 'nothing'
  if (type.startsWith('text/event-stream')) return new FrameReader(answer, http.timing.idleMs)
  answer.cancellation.end('left')
  const { status } = answer.response
  throw connectionFailed(`${answer.where}: expected a stream, got ${status} with ${type}.`, undefined, status)
}

/** The frames of one connection, read no further than whoever asks for them. */
export class FrameReader {
  readonly #answer: RequestResult
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #parser = new SseParser()
  readonly #idleMs: number
  #frames: Frame[] = []
  #reading: Promise<boolean> | undefined

  constructor(answer: RequestResult, idleMs: number) {
    this.#answer = answer
    this.#idleMs = idleMs
    this.#reader = answer.response.body?.getReader()
    answer.cancellation.beginStream()
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
    const { cancellation: callOff } = this.#answer
    const silence = setTimeout(() => callOff.end('silent'), this.#idleMs)
    try {
      const part = await this.#reader?.read()
      if (part === undefined || part.done) {
        callOff.release()
        return false
      }
      this.#frames = [...this.#frames, ...this.#parser.push(part.value)]
      return true
    } catch (error) {
      callOff.release()
      throw callOff.error(error)
    } finally {
      clearTimeout(silence)
    }
  }

  close(): void {
    this.#answer.cancellation.end('left')
    this.#reader?.cancel().catch(() => undefined)
  }

  /** A stream that is over without having said so was cut. */
  cut(): Error {
    return connectionFailed(`${this.#answer.where}: the stream was cut.`)
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
