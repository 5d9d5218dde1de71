import type { Outcome } from '../events/data/shared.ts'
import type { Moment } from '../events/envelope.ts'
import type { JournalReader } from '../reading.ts'
import type { FileKind } from './files.ts'
import type { PortInfo } from './ports.ts'
import type { ProcessInfo } from './processes.ts'
import type { ContextUse, Cost, PendingPermission, PendingQuestion, SessionInfo, Usage } from './sessions.ts'

/** A prompt that waits for its turn. */
export interface QueuedPrompt {
  readonly turn: string
  readonly since: Moment
  /** The beginning of its text. */
  readonly text?: string
}

/** A permission or question of an agent that has no answer yet. */
export interface WaitingRequest {
  readonly kind: 'permission' | 'question'
  readonly id: string
  readonly since: Moment
  readonly turn?: string
  /** The beginning of what it asks. */
  readonly text?: string
}

/** A session's work according to its journal. A field that the journal does not have is absent, never zero. */
export interface SessionActivity {
  /** The running turn. */
  readonly turn?: { readonly id: string; readonly since: Moment }
  readonly queued: readonly QueuedPrompt[]
  readonly waiting: readonly WaitingRequest[]
  /** The sum of the turns that reported it. */
  readonly tokens?: Usage
  /** The sum of the turns that reported it, one for each currency. */
  readonly cost?: readonly Cost[]
  /** After the last turn that reported it. */
  readonly context?: ContextUse
  /** Of the last turn that ended. */
  readonly outcome?: Outcome
  /** The last event of the session, its prompts, turns, permissions and questions. */
  readonly last: Moment
}

export interface SessionSummary extends SessionInfo {
  readonly activity: SessionActivity
}

export interface SessionDetail extends SessionSummary {
  readonly permissions: readonly PendingPermission[]
  readonly questions: readonly PendingQuestion[]
}

/** The net effect of all events on one path. */
export interface ChangedFile {
  readonly path: string
  readonly change: 'created' | 'changed' | 'deleted' | 'moved'
  readonly kind: FileKind
  /** The original path of a moved file. */
  readonly from?: string
  readonly size?: number
  /** The blob of its original content. */
  readonly before?: string
  /** The blob of its current content. Equal to `before` if a change was reverted. */
  readonly after?: string
  /** A secret was redacted in one of the blobs. */
  readonly redacted?: true
  /** The move replaced another file. */
  readonly replaced?: true
  /** The manifest of the workspace wrote it, and nothing has changed it since. */
  readonly manifest?: true
  /** The last event about it. */
  readonly seq: number
}

export interface ChangedFileList {
  /** Sorted by path. */
  readonly files: readonly ChangedFile[]
  /** False if a change may be missing, because events were trimmed or the watcher was degraded. */
  readonly complete: boolean
}

export interface LookOptions {
  readonly signal?: AbortSignal
}

/**
 * Reads of what a sandbox is or was. They start nothing, write nothing to its journal and need read access only. A
 * sandbox that runs shows its live state, masked as events are; any other one what its journal has.
 */
export interface SandboxLook {
  readonly id: string
  readonly journal: JournalReader
  readonly sessions: {
    /** In the order they were opened. */
    list(options?: LookOptions): Promise<readonly SessionSummary[]>
    /** One of them, open or closed. */
    get(id: string, options?: LookOptions): Promise<SessionDetail>
  }
  readonly processes: {
    /** In the order they were started. */
    list(options?: LookOptions): Promise<readonly ProcessInfo[]>
    get(id: string, options?: LookOptions): Promise<ProcessInfo>
  }
  readonly files: {
    changed(options?: LookOptions): Promise<ChangedFileList>
  }
  readonly ports: {
    /** None unless the sandbox runs. */
    list(options?: LookOptions): Promise<readonly PortInfo[]>
  }
}
