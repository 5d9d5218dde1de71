import type { Outcome } from '../events/data/shared.ts'
import type { JournalEvent, JournalItem } from '../events/envelope.ts'
import type { JsonObject, JsonValue } from '../json.ts'

/** A part of a prompt as the Agent Client Protocol has it: `text`, `image`, `audio`, `resource_link`, `resource`. */
export type ContentBlock = JsonObject & { readonly type: string }

/** What an agent gets of the host's own: nothing, its variables, its login files as well, or these values. */
export type CredentialGrant = 'none' | 'env' | 'host' | Readonly<Record<string, string>>

/** Types, not interfaces: they are sent as JSON objects. */
type NamedValue = { readonly name: string; readonly value: string; readonly _meta?: JsonObject | null }

/** A server of the Model Context Protocol that an agent is told of, as the Agent Client Protocol has it. */
export type McpServer =
  | {
      readonly name: string
      readonly command: string
      readonly args: readonly string[]
      readonly env: readonly NamedValue[]
      readonly _meta?: JsonObject | null
    }
  | {
      readonly type: 'http' | 'sse'
      readonly name: string
      readonly url: string
      readonly headers: readonly NamedValue[]
      readonly _meta?: JsonObject | null
    }

export interface ModelEndpoint {
  /** Without the path that the agent's dialect adds: `http://127.0.0.1:11434`. */
  readonly url: string
  readonly key?: string
  readonly model?: string
}

export type PermissionKind = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always'

/** Chosen by kind: the ids of options are each agent's own. */
export type PermissionAnswer = PermissionKind | 'cancelled' | { readonly option: string }

export interface PermissionRules {
  /** What becomes of a request that nothing below names. Default `ask`. */
  readonly default?: 'ask' | 'allow' | 'deny'
  /** Kinds of tools (`read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`, `other`). */
  readonly allow?: readonly string[]
  readonly allowAlways?: readonly string[]
  readonly deny?: readonly string[]
  /** How long a question waits for somebody; default an hour. */
  readonly timeoutMs?: number
  /** What it is answered with then; default `reject_once`. */
  readonly onTimeout?: PermissionKind | 'cancelled'
}

/** Every limit that a turn has. */
export interface TurnLimits {
  /** Ends a turn in which the agent has said nothing for so long. None by default. */
  readonly idleMs?: number
  /** Ends a turn that takes longer. None by default. */
  readonly totalMs?: number
  /** How long a cancelled agent may take before its processes are ended. Default 10 s. */
  readonly cancelMs?: number
}

export interface OpenSessionOptions {
  /** An id of its own. */
  readonly id?: string
  /** A known name, or that of an agent which the host was opened with. */
  readonly agent: string
  /** A directory of the workspace; default the workspace. */
  readonly cwd?: string
  /** Nothing is passed unless it is granted. */
  readonly credentials?: CredentialGrant
  /** Another model endpoint than the agent's own, where it is known how to point it there. */
  readonly modelEndpoint?: ModelEndpoint
  readonly mcpServers?: readonly McpServer[]
  readonly model?: string
  readonly mode?: string
  readonly thoughtLevel?: string
  readonly env?: Readonly<Record<string, string>>
  readonly permissions?: 'ask' | 'allow' | 'deny' | PermissionRules
  readonly limits?: TurnLimits
  /** How many prompts may wait for the one that runs, 16 by default; 0 refuses a second one. */
  readonly queue?: number
  /** How much of the transcript an agent that restores nothing itself is told; default 12,000 characters. */
  readonly restoreChars?: number
  readonly signal?: AbortSignal
}

/** What a turn cost, as far as the agent says. */
export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
  readonly cachedReadTokens?: number
  readonly cachedWriteTokens?: number
  readonly thoughtTokens?: number
}

/** The agent ended its turn as if all was well, and there are signs that its model failed. */
export interface ModelErrorSign {
  readonly sign: 'message' | 'silence'
  readonly text?: string
}

export interface PromptOptions {
  /** An id of its own for the turn. */
  readonly turn?: string
  readonly signal?: AbortSignal
}

export interface PromptResult {
  readonly turn: string
  readonly outcome: Outcome
  /** The agent's own word; absent when it never said one. */
  readonly stopReason?: string
  readonly usage?: Usage
  readonly modelError?: ModelErrorSign
}

export interface ConfigChoice {
  readonly value: string
  readonly name: string
  readonly description?: string
}

/** Something of a session that can be chosen. */
export interface ConfigOption {
  readonly id: string
  readonly name: string
  /** `model`, `mode`, `thought_level`, or the agent's own. */
  readonly category?: string
  readonly current?: string | boolean
  readonly choices: readonly ConfigChoice[]
  /** Known without asking the agent; a running one may say otherwise. */
  readonly static?: true
}

export interface SessionInfo {
  readonly id: string
  readonly agent: string
  readonly state: 'open' | 'closed'
  readonly createdAt: string
  readonly cwd: string
  readonly title?: string
  readonly turns: number
  /** A turn runs. */
  readonly busy: boolean
  readonly options: readonly ConfigOption[]
  /** The agent's own id for it. */
  readonly agentSession?: string
}

/** A permission that an agent waits for. */
export interface PendingPermission {
  readonly id: string
  readonly toolCall: JsonObject
  readonly options: readonly { readonly id: string; readonly name: string; readonly kind: string }[]
}

/** A question that an agent waits for: a form, or a page to visit. */
export interface PendingQuestion {
  readonly id: string
  readonly message: string
  readonly mode: 'form' | 'url'
  /** The form as a JSON schema. */
  readonly schema?: JsonObject
  readonly url?: string
}

export interface QuestionAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, JsonValue>>
}

export interface Session {
  readonly id: string
  readonly agent: string
  readonly info: SessionInfo
  /** Settles once `turn.finished` is committed. */
  prompt(content: string | readonly ContentBlock[], options?: PromptOptions): Promise<PromptResult>
  /** Ends the turn that runs, and answers those that wait. */
  cancel(): Promise<void>
  /** Shows copies of this session's events as they come. */
  onEvent(listener: (event: JournalEvent) => void): () => void
  events(options?: {
    readonly after?: string
    readonly signal?: AbortSignal
  }): AsyncIterableIterator<JournalItem>
  /** What was said and done so far, as plain JSON: the state of `transcriptView` in `@vitrine/views`. */
  transcript(): Promise<unknown>
  setMode(mode: string): Promise<void>
  setModel(model: string): Promise<void>
  setThoughtLevel(level: string): Promise<void>
  setConfigOption(id: string, value: string | boolean): Promise<void>
  readonly permissions: readonly PendingPermission[]
  respondPermission(permission: string, answer: PermissionAnswer): Promise<void>
  readonly questions: readonly PendingQuestion[]
  respondQuestion(question: string, answer: QuestionAnswer): Promise<void>
  close(): Promise<void>
  /** Another session that goes on from here, where the agent can. */
  fork(options?: { readonly id?: string }): Promise<Session>
}

export interface Sessions {
  list(): Promise<readonly SessionInfo[]>
  /** One that is open. */
  get(id: string): Promise<Session>
  /** One that is open, or that an earlier host had: restored by the agent, or told what was said. */
  resume(id: string, options?: Partial<Omit<OpenSessionOptions, 'id' | 'agent'>>): Promise<Session>
  resumeOrCreate(options: OpenSessionOptions & { readonly id: string }): Promise<Session>
}
