import { VitrineError } from '@vitrine/protocol'
import {
  type BodyParts,
  discard,
  isInParts,
  largeBytes,
  limitStalls,
  partsOf,
  type ResponseBody,
} from './body.ts'

/**
 * A response. Not the web's `Response`: on a Node server, creating and unpacking one is most of the cost of a small
 * request, and loading its code is a large part of the start time.
 */
export class HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: ResponseBody
  /** How long the reader may take for one part of the body; the transport's limit by default. */
  readonly stallMs: number | undefined

  constructor(status: number, headers: HttpResponse['headers'], body: ResponseBody, stallMs?: number) {
    this.status = status
    this.headers = headers
    this.body = body
    this.stallMs = stallMs
  }

  /** A copy with more headers. */
  with(headers: HttpResponse['headers']): HttpResponse {
    return new HttpResponse(this.status, { ...this.headers, ...headers }, this.body, this.stallMs)
  }

  /**
   * A copy that calls `release`, which may be called twice, when it is sent or discarded, or when its reader stalls. A
   * small body is released at once: the buffers of a connection hold it.
   */
  releasing(release: () => void, stallMs: number): HttpResponse {
    const { status, headers, body } = this
    if (isInParts(body)) throw new TypeError('A body in parts has a source of its own to close.')
    const large = body === null ? undefined : largeBytes(body)
    if (large === undefined) {
      release()
      return this
    }
    const length = { 'content-length': String(large.byteLength) }
    return new HttpResponse(status, { ...headers, ...length }, partsOf(large, release), stallMs)
  }

  /** The response to a HEAD request; closes the source of the body. */
  head(): HttpResponse {
    discard(this.body)
    return new HttpResponse(this.status, this.headers, null)
  }

  /** Converts to a web-standard `Response`, for apps that mount `server.fetch`. */
  toResponse(): Response {
    const { body, status } = this
    const headers = Object.entries(this.headers).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    )
    const content = isInParts(body) ? streamOf(body, this.stallMs) : body
    return new Response(content, { status, headers })
  }
}

/** A stream of copies, which the reader may keep. It fails and closes its source when the reader stalls. */
function streamOf(body: AsyncIterable<Uint8Array>, stallMs: number | undefined): ReadableStream<Uint8Array> {
  let parts: BodyParts
  return new ReadableStream(
    {
      start(controller) {
        parts = limitStalls(body, stallMs, () => {
          controller.error(
            new VitrineError(
              'reader_fell_behind',
              `The reader took longer than ${stallMs} ms for one part of the body.`,
            ),
          )
          discard(parts)
        })
      },
      async pull(controller) {
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(new Uint8Array(value))
      },
      async cancel() {
        await parts.return()
      },
    },
    { highWaterMark: 0 },
  )
}
