import type { JsonObject, ProcessExit } from '@vitrine/protocol'

/** The first and the last lines of an agent's stderr. */
export interface StderrExcerpt {
  readonly head: string
  readonly tail?: string
  readonly lines: number
}

/** The observed exit of an agent. */
export interface AgentExit extends ProcessExit {
  readonly stderr: StderrExcerpt
}

/** A byte stream to and from an agent: a program in a sandbox, or a function. */
export interface AgentTransport {
  /** Added to the data of `agent.started`. */
  readonly facts: JsonObject
  /** Starts reading and passes on bytes as they arrive. Nothing is read before `start` or while paused. */
  start(take: (bytes: Buffer) => void): void
  pause(): void
  resume(): void
  /** Settles once the agent's pipe has accepted the line. */
  write(line: string): Promise<void>
  /** The lines of its stderr so far. */
  stderr(): StderrExcerpt
  /** Settles once the agent no longer runs. Its last bytes may still arrive unless reading is paused. */
  readonly exited: Promise<unknown>
  /** Settles after the last byte was passed on. */
  readonly closed: Promise<AgentExit>
  /** Closes its input, kills it after `graceMs`, and kills its process tree. */
  end(graceMs: number): Promise<void>
  /** Kills the processes that the agent has started since that mark, but not the agent. Returns their number. */
  killStartedAfter(mark: number): number
  /** A mark of the current moment, for `killStartedAfter`. */
  processMark(): number
}
