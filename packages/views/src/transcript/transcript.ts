import type { JsonValue, ModelErrorSign, Outcome, Usage } from '@vitrine/protocol'
import type { Moment } from '../moment.ts'
import type { WideTable } from '../wide-table.ts'
import type { Attachment } from './content.ts'
import type { TranscriptPlan } from './plan.ts'
import type { ToolCallStatus } from './tool-calls.ts'
import type { ToolCallContent } from './tool-content.ts'

interface Entry {
  /** The same whether the transcript was built at once or as events came. */
  readonly id: string
  /** Absent for what came outside of any turn. */
  readonly turn?: string
  readonly beganAt: Moment
  readonly changedAt: Moment
  /** How many characters it holds, as `maxChars` counts them. */
  readonly chars: number
  /** It was longer than an entry may be, and its end is left out. */
  readonly cut?: true
}

interface SaidText extends Entry {
  readonly text: string
  readonly attachments?: readonly Attachment[]
}

export interface TranscriptMessage extends SaidText {
  readonly kind: 'message'
  readonly role: 'user' | 'assistant'
}

export interface TranscriptThought extends SaidText {
  readonly kind: 'thought'
}

export interface TranscriptToolCall extends Entry {
  readonly kind: 'toolCall'
  /** The agent's own id. Some agents use one again in a later turn; `id` is never used again. */
  readonly toolCallId: string
  readonly status: ToolCallStatus
  readonly title?: string
  readonly name?: string
  /** `read`, `edit`, `execute`, … */
  readonly toolKind?: string
  /** The command or path it is about. */
  readonly subject?: string
  readonly locations?: readonly { readonly path: string; readonly line?: number }[]
  readonly input?: JsonValue
  readonly output?: JsonValue
  readonly content?: ToolCallContent
  /** When it was known to be over. */
  readonly endedAt?: Moment
}

interface RequestEntry extends Entry {
  /** Absent while somebody waits for the answer. */
  readonly resolvedAt?: Moment
  readonly outcome?: Outcome
  readonly by?: string
}

export interface TranscriptPermission extends RequestEntry {
  readonly kind: 'permission'
  /** The `id` of the tool call that it is for. */
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

/** One turn as far as events tell: it runs without `endedAt`; without `startedAt` its start is missing. */
export interface TranscriptTurn {
  readonly id: string
  readonly index?: number
  readonly startedAt?: Moment
  readonly endedAt?: Moment
  readonly outcome?: Outcome
  readonly stopReason?: string
  readonly durationMs?: number
  readonly usage?: Usage
  readonly modelError?: ModelErrorSign
  readonly errorType?: string
  readonly errorCode?: string
  readonly errorMessage?: string
}

export interface TranscriptUsage {
  /** How many tokens the agent's context holds now, and how many it can. */
  readonly context?: { readonly used: number; readonly size?: number }
  /** Of the whole session. */
  readonly cost?: { readonly amount: number; readonly currency?: string }
  /** The sum over the turns that said theirs. */
  readonly tokens?: Usage
}

/** What was said and done in a session. Read it with `listTranscript` or `transcriptText`. */
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
  /** The turn that runs. */
  readonly turn?: string
  /** The entry that the next chunk of text belongs to, if it is of the same kind. */
  readonly speaking?: TranscriptRef & { readonly messageId?: string }
  /** The newest call by the agent's own id, where that was used again. */
  readonly reused: WideTable<string>
  /** How many characters all entries hold. */
  readonly chars: number
  /** How many entries were dropped to stay within the limits. */
  readonly dropped: number
  readonly droppedTurns: number
  /** False once something is not here that was said: a gap hid it, or it is in a blob as a whole. */
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
