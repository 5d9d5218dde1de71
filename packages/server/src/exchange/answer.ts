/**
 * What is answered. Not a `Response`: on a server of Node, making one and taking it apart again is most of what a small
 * request costs, and loading what it takes is a good part of a start.
 */
export class Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** A text and bytes are whole; a stream may break half-way. */
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null

  constructor(status: number, headers: Answer['headers'], body: Answer['body']) {
    this.status = status
    this.headers = headers
    this.body = body
  }

  /** The same with more headers. */
  with(headers: Answer['headers']): Answer {
    return new Answer(this.status, { ...this.headers, ...headers }, this.body)
  }

  /** For who asks for the head only: what the body holds open is let go. */
  head(): Answer {
    if (this.body instanceof ReadableStream) this.body.cancel().catch(() => undefined)
    return new Answer(this.status, this.headers, null)
  }

  /** For whoever mounts the daemon in an app of the web's kind. */
  toResponse(): Response {
    const headers = Object.entries(this.headers).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    )
    return new Response(this.body, { status: this.status, headers })
  }
}
