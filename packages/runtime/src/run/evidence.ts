import { type Cost, type ErrorCode, type Usage, VitrineError } from '@vitrine/protocol'
import type { SandboxEvent } from '../events/sandbox-event.ts'

/** The observations of a turn that did not succeed. */
export interface RunEvidence {
  /** The events up to the end of the turn; empty if it did not begin. */
  readonly events: readonly SandboxEvent[]
  /** How many more events there were than `maxEvents`. The journal has them. */
  readonly omittedEvents?: number
  /** Reading the sandbox's journal `after` it continues after these events; absent if there is no sandbox. */
  readonly cursor?: string
  /** Absent if the agent did not report it. */
  readonly usage?: Usage
  readonly cost?: Cost
  /** Costs in other currencies. */
  readonly otherCosts?: readonly Cost[]
  /** The last error of reading the artifact. */
  readonly readError?: unknown
}

interface RunErrorOptions {
  readonly evidence: RunEvidence
  readonly cause?: unknown
}

/** A turn of a run failed: its sandbox, its agent, its artifact, or a limit. */
export class SandboxRunError extends VitrineError implements RunEvidence {
  readonly events: readonly SandboxEvent[]
  readonly omittedEvents?: number
  readonly cursor?: string
  readonly usage?: Usage
  readonly cost?: Cost
  readonly otherCosts?: readonly Cost[]
  readonly readError?: unknown

  constructor(code: ErrorCode, message: string, { evidence, cause }: RunErrorOptions) {
    super(code, message, cause === undefined ? {} : { cause })
    this.events = evidence.events
    if (evidence.omittedEvents !== undefined) this.omittedEvents = evidence.omittedEvents
    if (evidence.cursor !== undefined) this.cursor = evidence.cursor
    if (evidence.usage !== undefined) this.usage = evidence.usage
    if (evidence.cost !== undefined) this.cost = evidence.cost
    if (evidence.otherCosts !== undefined) this.otherCosts = evidence.otherCosts
    if (evidence.readError !== undefined) this.readError = evidence.readError
  }

  static {
    Object.defineProperty(SandboxRunError.prototype, 'name', { value: 'SandboxRunError', configurable: true })
  }
}

/** A turn of a run was aborted by a signal or by `close()`. */
export class SandboxRunAbortError extends SandboxRunError {
  constructor(message: string, options: RunErrorOptions) {
    super('cancelled', message, options)
  }

  static {
    Object.defineProperty(SandboxRunAbortError.prototype, 'name', { value: 'AbortError', configurable: true })
  }
}
