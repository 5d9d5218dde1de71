import { isVitrineError, type Outcome, toVitrineError, VitrineError } from '@vitrine/protocol'
import type { BudgetBreach } from '../budget/budget.ts'
import { type RunEvidence, SandboxRunAbortError, SandboxRunError } from './evidence.ts'
import type { RunEnd } from './run-record.ts'

/** Everything that decides which error a turn ends with. */
export interface TurnFailure {
  readonly runId: string
  readonly cause: unknown
  readonly evidence: RunEvidence
  /** The breach that ended the turn. */
  readonly breach: BudgetBreach | undefined
  /** Whether the program ended the turn, by a signal or by `close()`. */
  readonly isAborted: boolean
  /** The end of the run on record, if its host has written one. */
  readonly recorded: RunEnd | undefined
}

export function turnError({
  runId,
  cause,
  evidence,
  breach,
  isAborted,
  recorded,
}: TurnFailure): SandboxRunError {
  if (breach !== undefined) {
    const { limit, max, used } = breach
    const message = `The run ${runId} used ${used} of ${max} (budget.${limit}).`
    return new SandboxRunError('budget_exhausted', message, { evidence, cause })
  }
  if (isAborted) return new SandboxRunAbortError('The turn was aborted.', { evidence, cause })
  const { code, message } =
    recorded?.outcome === 'interrupted'
      ? interrupted(recorded)
      : isVitrineError(cause) && cause.code === 'cancelled'
        ? cancelledElsewhere()
        : toVitrineError(cause, 'run_failed')
  return new SandboxRunError(code, message, { evidence, cause })
}

/** The outcome of a run that ends after this error. */
export function outcomeOf({ code }: SandboxRunError): Outcome {
  return code === 'cancelled' || code === 'interrupted' || code === 'timeout' ? code : 'failed'
}

/** The error of a turn whose result is not `ok`. */
export function endError(outcome: Exclude<Outcome, 'ok'>): VitrineError {
  switch (outcome) {
    case 'cancelled':
      return cancelledElsewhere()
    case 'timeout':
      return new VitrineError('timeout', 'The turn took longer than the limits of its session.')
    case 'interrupted':
      return interrupted({ errorMessage: 'Its host ended before it did.' })
    case 'failed':
      return new VitrineError('agent_failed', 'The turn failed.')
  }
}

function cancelledElsewhere(): VitrineError {
  return new VitrineError(
    'cancelled',
    'Another caller cancelled the turn, or stopped its sandbox or its host.',
  )
}

function interrupted({ errorMessage = '' }: { readonly errorMessage?: string }): VitrineError {
  return new VitrineError('interrupted', `The turn was interrupted. ${errorMessage}`.trim())
}
