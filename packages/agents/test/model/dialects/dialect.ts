import type { CompletionRequest, DialectName } from '../completion-request.ts'
import type { ModelRefusal, ModelReply } from '../reply.ts'
import type { Usage } from '../usage.ts'

/** One model API: parses requests and formats responses, without side effects. */
export interface Dialect {
  readonly name: DialectName
  /** The kind of request at this URL. */
  purpose(url: URL): 'answer' | 'count' | undefined
  /** Parses a request; throws a ZodError if it is invalid. */
  read(body: unknown, url: URL): CompletionRequest
  /** Formats the reply as one JSON body. */
  whole(reply: ModelReply, context: ReplyContext): unknown
  /** Formats the reply as frames of a stream. */
  stream(reply: ModelReply, context: ReplyContext): Iterable<string>
  refuse(refusal: ModelRefusal): unknown
  count(tokens: number): unknown
}

export interface ReplyContext {
  readonly ask: CompletionRequest
  readonly usage: Usage
  /** Unique to this reply, of letters and digits. */
  readonly id: string
}
