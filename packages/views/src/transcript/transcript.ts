import type { ContextUse, Cost, JsonValue, ModelErrorSign, Moment, Outcome, Usage } from '@vitrine/protocol'
import type { WideTable } from '../wide-table.ts'
import type { Attachment } from './content.ts'
import type { TranscriptPlan } from './plan.ts'
import type { ToolCallStatus } from './tool-calls.ts'
import type { ToolCallContent } from './tool-content.ts'

interface Entry {
  /** Independent of the batches in which events were added. */
  readonly id: string
  /** Absent for an entry outside of any turn. */
  readonly turn?: string
  readonly beganAt: Moment
  readonly changedAt: Moment
  /** Number of characters, as `maxChars` counts them. */
  readonly chars: number
  /** The entry was longer than `maxEntryChars` and its end was cut. */
  readonly cut?: true
}

interface TranscriptTextEntry extends Entry {
  readonly text: string
  readonly attachments?: readonly Attachment[]
}

export interface TranscriptMessage extends TranscriptTextEntry {
  readonly kind: 'message'
  readonly role: 'user' | 'assistant'
}

export interface TranscriptThought extends TranscriptTextEntry {
  readonly kind: 'thought'
}

export interface TranscriptToolCall extends Entry {
  readonly kind: 'toolCall'
  /** The agent's id of the call. Some agents reuse it in a later turn; `id` is unique. */
  readonly toolCallId: string
  readonly status: ToolCallStatus
  readonly title?: string
  readonly name?: string
  /** `read`, `edit`, `execute`, … */
  readonly toolKind?: string
  /** Its command or path. */
  readonly subject?: string
  readonly locations?: readonly { readonly path: string; readonly line?: number }[]
  readonly input?: JsonValue
  readonly output?: JsonValue
  readonly content?: ToolCallContent
  /** The event that showed that the call had ended. */
  readonly endedAt?: Moment
}

interface RequestEntry extends Entry {
  /** Absent while the answer is pending. */
  readonly resolvedAt?: Moment
  readonly outcome?: Outcome
  readonly by?: string
}

export interface TranscriptPermission extends RequestEntry {
  readonly kind: 'permission'
  /** The `id` of its tool call. */
  readonly toolCall?: string
  readonly title?: string
  readonly options: readonly { readonly id: string; readonly name?: string; readonly kind?: string }[]
  /** The kind of the option that was chosen, or `cancelled`. */
  readonly answer?: string
  readonly option?: string
}

export interface TranscriptQuestion extends RequestEntry {
  readonly kind: 'question'
  readonly message?: string
  readonly mode?: 'form' | 'url'
  readonly schema?: JsonValue
  readonly url?: string
  readonly action?: 'accept' | 'decline' | 'cancel'
  readonly content?: JsonValue
}

export type TranscriptEntry =
  | TranscriptMessage
  | TranscriptThought
  | TranscriptToolCall
  | TranscriptPermission
  | TranscriptQuestion

export interface TranscriptRef {
  readonly kind: TranscriptEntry['kind']
  readonly id: string
}

/** One turn. It is running without `endedAt`; without `startedAt` its start event is missing. */
export interface TranscriptTurn {
  readonly id: string
  readonly index?: number
  readonly startedAt?: Moment
  readonly endedAt?: Moment
  readonly outcome?: Outcome
  readonly stopReason?: string
  readonly durationMs?: number
  readonly usage?: Usage
  readonly cost?: Cost
  /** After the turn. */
  readonly context?: ContextUse
  readonly modelError?: ModelErrorSign
  readonly errorType?: string
  readonly errorCode?: string
  readonly errorMessage?: string
}

export interface TranscriptUsage {
  /** Tokens in the agent's context and its capacity. */
  readonly context?: ContextUse
  /** Cost of the whole session. */
  readonly cost?: Cost
  /** Sum of the turns with reported usage. */
  readonly tokens?: Usage
}

/** The state of `transcriptView`. Read it with `listTranscript` or `transcriptText`. */
export interface Transcript {
  readonly agent?: string
  readonly title?: string
  readonly messages: WideTable<TranscriptMessage>
  readonly thoughts: WideTable<TranscriptThought>
  readonly toolCalls: WideTable<TranscriptToolCall>
  readonly permissions: WideTable<TranscriptPermission>
  readonly questions: WideTable<TranscriptQuestion>
  /** All of these in order of first appearance. */
  readonly entries: readonly TranscriptRef[]
  /** In order of start. */
  readonly turns: readonly TranscriptTurn[]
  readonly plan?: TranscriptPlan
  readonly usage: TranscriptUsage
  readonly closedAt?: Moment
  /** The running turn. */
  readonly turn?: string
  /** The entry that the next chunk of text belongs to, if it is of the same kind. */
  readonly speaking?: TranscriptRef & { readonly messageId?: string }
  /** The `id` of the latest call by the agent's id, for ids that were reused. */
  readonly reused: WideTable<string>
  /** Number of characters of all entries. */
  readonly chars: number
  /** Number of entries that were dropped to stay within the limits. */
  readonly dropped: number
  readonly droppedTurns: number
  /** False once content is missing, because of a gap or because a whole message is in a blob. */
  readonly complete: boolean
}

export const emptyTranscript: Transcript = {
  messages: {},
  thoughts: {},
  toolCalls: {},
  permissions: {},
  questions: {},
  entries: [],
  turns: [],
  usage: {},
  reused: {},
  chars: 0,
  dropped: 0,
  droppedTurns: 0,
  complete: true,
}
