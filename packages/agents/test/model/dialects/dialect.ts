import type { Ask, DialectName } from '../ask.ts'
import type { Refusal, Reply } from '../reply.ts'
import type { Usage } from '../usage.ts'

/** One API of models: how it is read and how it is answered. Everything here is pure. */
export interface Dialect {
  readonly name: DialectName
  /** What is asked at this path. */
  purpose(url: URL): 'answer' | 'count' | undefined
  /** Throws a ZodError on what is not of this dialect. */
  read(body: unknown, url: URL): Ask
  /** The answer as one JSON body. */
  whole(reply: Reply, context: Context): unknown
  /** The answer as a stream, piece by piece. */
  stream(reply: Reply, context: Context): Iterable<string>
  refuse(refusal: Refusal): unknown
  count(tokens: number): unknown
}

export interface Context {
  readonly ask: Ask
  readonly usage: Usage
  /** Unique to this answer, of letters and digits. */
  readonly id: string
}
