import type { Outcome } from '../events/data/shared.ts'
import type { JournalItem } from '../events/envelope.ts'
import type { JsonObject } from '../json.ts'

export interface OpenSessionOptions {
  readonly agent: string
  readonly cwd?: string
  readonly model?: string
  readonly mode?: string
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface PromptResult {
  readonly turn: string
  readonly outcome: Outcome
  /** The agent's own word; absent when it never said one. */
  readonly stopReason?: string
}

export interface SessionInfo {
  readonly id: string
  readonly agent: string
  readonly state: 'open' | 'closed'
  readonly createdAt: string
}

export interface Session {
  readonly id: string
  readonly agent: string
  /** Settles once `turn.finished` is committed. */
  prompt(
    prompt: string | readonly JsonObject[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<PromptResult>
  cancel(): Promise<void>
  answer(permission: string, answer: string): Promise<void>
  events(options?: {
    readonly after?: string
    readonly signal?: AbortSignal
  }): AsyncIterableIterator<JournalItem>
  close(): Promise<void>
}

export interface Sessions {
  list(): Promise<readonly SessionInfo[]>
  get(id: string): Promise<Session>
  resume(id: string): Promise<Session>
  resumeOrCreate(options: OpenSessionOptions & { readonly id?: string }): Promise<Session>
}
