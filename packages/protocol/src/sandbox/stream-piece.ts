import type { Outcome } from '../events/data/shared.ts'
import type { Moment } from '../events/envelope.ts'
import type { JsonValue } from '../json.ts'
import type { FileKind } from './files.ts'
import type { ContextUse, Cost, ModelErrorSign, PromptOptions, Usage } from './sessions.ts'

/** The event that a piece was made from. */
export interface PieceOrigin {
  readonly turn: string
  readonly at: Moment
  /** The stream continues after this piece with `after`. */
  readonly cursor: string
}

/** An image, a file, or a long text stored as a blob. */
export interface PieceAttachment {
  readonly type: string
  readonly mimeType?: string
  readonly uri?: string
  readonly name?: string
  readonly bytes?: number
  readonly blob?: string
}

/** A part of a message or of a thought, as it came. Parts of the same one have the same `id`. */
export interface MessagePiece extends PieceOrigin {
  readonly type: 'text' | 'thought'
  readonly id: string
  readonly text: string
  readonly attachments?: readonly PieceAttachment[]
}

/** A text, or the blob of one that is too long for an event. */
type LongText = string | { readonly blob: string; readonly bytes: number }

/** A tool call when it began and after each change. */
export interface ToolCallPiece extends PieceOrigin {
  readonly type: 'toolCall'
  /** Unique in its turn; equal to `toolCallId` unless the agent uses that twice. */
  readonly id: string
  readonly toolCallId: string
  readonly status: 'pending' | 'in_progress' | 'unfinished' | 'cancelled' | 'completed' | 'failed'
  readonly title?: string
  readonly name?: string
  /** `read`, `edit`, `execute`, … */
  readonly toolKind?: string
  /** Its command or path. */
  readonly subject?: string
  readonly locations?: readonly { readonly path: string; readonly line?: number }[]
  readonly input?: JsonValue
  readonly output?: JsonValue
  readonly content?: {
    readonly text: string
    readonly diffs: readonly {
      readonly path: string
      readonly oldText?: LongText
      readonly newText: LongText
    }[]
    readonly attachments: readonly PieceAttachment[]
  }
  /** A part of it was too long and was cut. */
  readonly cut?: true
}

export interface FileChangePiece extends PieceOrigin {
  readonly type: 'fileChange'
  readonly change: 'created' | 'changed' | 'deleted' | 'moved'
  readonly path: string
  readonly kind: FileKind
  readonly previousPath?: string
  readonly size?: number
  /** The blobs of its content. */
  readonly before?: string
  readonly after?: string
}

/** A request of the agent, when it was made and when it was resolved: then it has an `outcome`. */
interface RequestPiece extends PieceOrigin {
  readonly id: string
  readonly outcome?: Outcome
  readonly by?: string
  /** A part of it was too long and was cut. */
  readonly cut?: true
}

export interface PermissionPiece extends RequestPiece {
  readonly type: 'permission'
  /** The `id` of its tool call. */
  readonly toolCall?: string
  readonly title?: string
  readonly options: readonly { readonly id: string; readonly name?: string; readonly kind?: string }[]
  readonly answer?: string
  readonly option?: string
}

export interface QuestionPiece extends RequestPiece {
  readonly type: 'question'
  readonly message?: string
  readonly mode?: 'form' | 'url'
  readonly schema?: JsonValue
  readonly url?: string
  readonly action?: 'accept' | 'decline' | 'cancel'
  readonly content?: JsonValue
}

/** A report of the agent. What it did not report is absent. */
export interface UsagePiece extends PieceOrigin {
  readonly type: 'usage'
  readonly context?: ContextUse
  /** Of the whole session, as the agent reports it during a turn. */
  readonly sessionCost?: Cost
  /** Of the turn, at its end. */
  readonly usage?: Usage
  readonly cost?: Cost
}

/** The last piece of every stream. */
export interface EndPiece extends Pick<PieceOrigin, 'turn'>, Partial<Omit<PieceOrigin, 'turn'>> {
  readonly type: 'end'
  readonly outcome: Outcome
  readonly stopReason?: string
  readonly modelError?: ModelErrorSign
  /** Of a turn that failed: the stream throws it after this piece. */
  readonly error?: { readonly code: string; readonly message: string }
  /** False if pieces are missing, because events were trimmed or a message was too long. */
  readonly complete: boolean
}

export type StreamPiece =
  | MessagePiece
  | ToolCallPiece
  | FileChangePiece
  | PermissionPiece
  | QuestionPiece
  | UsagePiece
  | EndPiece

export interface SessionStreamOptions extends PromptOptions {
  /** Only pieces after the one with this cursor; of a turn that was sent before with the same `turn`. */
  readonly after?: string
}
