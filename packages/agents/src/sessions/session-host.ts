import type { Journal } from '@vitrine/journal'
import type { HostCallContext, JsonObject, LastTurn } from '@vitrine/protocol'
import type { SandboxEngine } from '@vitrine/sandbox'
import type { Transcript } from '@vitrine/views'
import type { AgentInstance } from './agent-instance.ts'
import type { AgentSession } from './agent-session.ts'
import type { KnownTurns } from './known-turns.ts'

/** The parts of its sandbox that a session uses. */
export interface SessionHost {
  readonly sandbox: SandboxEngine
  readonly journal: Journal
  readonly turns: KnownTurns
  /** Starts an agent for a session whose own has exited, and restores the conversation. */
  restore(session: AgentSession, signal: AbortSignal): Promise<Restored>
  /** Releases the agent and the tools of a session that is closing. */
  release(session: AgentSession): Promise<void>
  /** Called once `session.closed` is appended. */
  onClosed(session: AgentSession): void
  fork(session: AgentSession, id: string | undefined, context?: HostCallContext): Promise<AgentSession>
  transcript(session: AgentSession): Promise<Transcript>
}

export interface Restored {
  readonly instance: AgentInstance
  readonly answer: JsonObject
  readonly agentSession: string
  /** Whether the agent has it from before. */
  readonly conversation: 'new' | 'continued'
  /** Summary of the earlier conversation, for an agent that could not restore it itself. */
  readonly recap?: string
}

export interface KnownSession {
  readonly cwd: string
  readonly createdAt: string
  readonly turns: number
  readonly lastTurn?: LastTurn | undefined
  readonly title?: string
}
