import { VitrineError } from '@vitrine/protocol'
import { type Body, discard, isInParts, limitStalls, type Parts } from './body.ts'

/**
 * What is answered. Not a `Response`: on a server of Node, making one and taking it apart again is most of what a small
 * request costs, and loading what it takes is a good part of a start.
 */
export class Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Body
  /** How long the reader of a body in parts may take for one of them; without it, as the transport decides. */
  readonly stallMs: number | undefined

  constructor(status: number, headers: Answer['headers'], body: Body, stallMs?: number) {
    this.status = status
    this.headers = headers
    this.body = body
    this.stallMs = stallMs
  }

  /** The same with more headers. */
  with(headers: Answer['headers']): Answer {
    return new Answer(this.status, { ...this.headers, ...headers }, this.body, this.stallMs)
  }

  /** For who asks for the head only: what the body holds open is let go. */
  head(): Answer {
    discard(this.body)
    return new Answer(this.status, this.headers, null)
  }

  /** For whoever mounts the daemon in an app of the web's kind. */
  toResponse(): Response {
    const { body, status } = this
    const headers = Object.entries(this.headers).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    )
    const given = isInParts(body) ? ReadableStream.from(ownedParts(body, this.stallMs)) : body
    return new Response(given, { status, headers })
  }
}

/** Copies of the parts, which a reader may keep. A reader that stalled finds the stream broken. */
function ownedParts(body: AsyncIterable<Uint8Array>, stallMs: number | undefined): Parts {
  let stalled = false
  const parts = limitStalls(body, stallMs, () => {
    stalled = true
    discard(parts)
  })
  return {
    async next() {
      if (stalled) throw new VitrineError('view_fell_behind', 'The reader did not read.')
      const next = await parts.next()
      return next.done ? next : { done: false, value: new Uint8Array(next.value) }
    },
    return: () => parts.return(),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
