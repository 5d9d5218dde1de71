import { VitrineError } from '@vitrine/protocol'
import { type BodyParts, discard, isInParts, limitStalls, type ResponseBody } from './body.ts'

/**
 * What is answered. Not a `Response`: on a server of Node, making one and taking it apart again is most of what a small
 * request costs, and loading what it takes is a good part of a start.
 */
export class HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: ResponseBody
  /** How long the reader of a body in parts may take for one of them; without it, as the transport decides. */
  readonly stallMs: number | undefined

  constructor(status: number, headers: HttpResponse['headers'], body: ResponseBody, stallMs?: number) {
    this.status = status
    this.headers = headers
    this.body = body
    this.stallMs = stallMs
  }

  /** The same with more headers. */
  with(headers: HttpResponse['headers']): HttpResponse {
    return new HttpResponse(this.status, { ...this.headers, ...headers }, this.body, this.stallMs)
  }

  /** For who asks for the head only: what the body holds open is let go. */
  head(): HttpResponse {
    discard(this.body)
    return new HttpResponse(this.status, this.headers, null)
  }

  /** For whoever mounts the daemon in an app of the web's kind. */
  toResponse(): Response {
    const { body, status } = this
    const headers = Object.entries(this.headers).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    )
    const content = isInParts(body) ? streamOf(body, this.stallMs) : body
    return new Response(content, { status, headers })
  }
}

/** A stream of copies, which a reader may keep. It breaks as soon as its reader stalls, and its source is closed. */
function streamOf(body: AsyncIterable<Uint8Array>, stallMs: number | undefined): ReadableStream<Uint8Array> {
  let parts: BodyParts
  return new ReadableStream(
    {
      start(controller) {
        parts = limitStalls(body, stallMs, () => {
          controller.error(new VitrineError('view_fell_behind', 'The reader did not read.'))
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
