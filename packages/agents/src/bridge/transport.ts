import type { JsonObject, ProcessExit } from '@vitrine/protocol'

/** What an agent said on the side: its first and its last lines. */
export interface StderrExcerpt {
  readonly head: string
  readonly tail?: string
  readonly lines: number
}

/** How an agent ended, as it was observed. */
export interface AgentExit extends ProcessExit {
  readonly stderr: StderrExcerpt
}

/** The two ends of a pipe to an agent, whatever it is: a program in a sandbox, or a function. */
export interface AgentTransport {
  /** What its start says of it. */
  readonly facts: JsonObject
  /** Bytes as they come. Nothing is read before `start`, and nothing while it is held. */
  start(take: (bytes: Buffer) => void): void
  pause(): void
  resume(): void
  /** Settles once the agent's pipe has taken it. */
  write(line: string): Promise<void>
  /** Settles once it runs no more. Its last bytes may still come, if it is not held. */
  readonly gone: Promise<unknown>
  /** Settles after its last byte was handed over. */
  readonly ended: Promise<AgentExit>
  /** Asks it to end, and after `graceMs` does not ask any more. Everything it started goes with it. */
  end(graceMs: number): Promise<void>
  /** Ends what it has started since then, and not itself. */
  endChildrenSince(moment: number): number
  /** A moment for `endChildrenSince`. */
  now(): number
}
