import type { Operation } from '@vitrine/journal'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import { cancelled } from '../files/time-slice.ts'
import { CommandFailure } from './command-failure.ts'
import type { Where } from './invalid.ts'

/** One thing to do. */
export interface Step {
  readonly where: Where
  readonly name: string
  /** Answers with the exit code where it was a command. */
  run(signal: AbortSignal): Promise<number | undefined>
}

export interface RunStepsOptions {
  readonly operation: Pick<Operation, 'progress'>
  /** How many of a group at once. */
  readonly concurrency: number
  readonly signal: AbortSignal
}

interface Numbered {
  readonly step: Step
  readonly number: number
}

/** Runs groups of steps one after the other, and says of each how far it is. */
export async function runSteps(
  groups: readonly (readonly Step[])[],
  options: RunStepsOptions,
): Promise<void> {
  const counts = { done: 0, total: groups.flat().length }
  let numbered = 0
  for (const group of groups) {
    const steps = group.map((step) => {
      numbered += 1
      return { step, number: numbered }
    })
    await runGroup(steps, counts, options)
  }
}

interface Counts {
  done: number
  readonly total: number
}

/** The first that fails ends the others, and all of them are waited for. */
async function runGroup(group: readonly Numbered[], counts: Counts, options: RunStepsOptions): Promise<void> {
  const failed = new AbortController()
  const signal = AbortSignal.any([options.signal, failed.signal])
  let failure: { readonly error: unknown } | undefined
  const waiting = group.values()
  const work = async () => {
    for (const one of waiting) {
      if (signal.aborted) return
      try {
        await runStep(one, counts, options, signal)
      } catch (error) {
        failure ??= { error }
        failed.abort(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.concurrency, group.length) }, work))
  if (options.signal.aborted) throw cancelled(options.signal)
  if (failure !== undefined) throw failure.error
}

async function runStep(
  { step, number }: Numbered,
  counts: Counts,
  { operation }: RunStepsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name } = step
  const tell = (state: 'started' | 'finished' | 'failed', facts: Readonly<Record<string, unknown>> = {}) =>
    operation.progress({ step: number, name, state, ...counts, ...facts })
  await tell('started')
  let exitCode: number | undefined
  try {
    exitCode = await step.run(signal)
  } catch (error) {
    const facts = error instanceof CommandFailure ? { exitCode: error.result.exitCode } : {}
    // The error itself matters more than that it could not be told.
    await tell('failed', { ...facts, ...(signal.aborted && { outcome: 'cancelled' }) }).catch(() => undefined)
    throw signal.aborted ? cancelled(signal) : failureOf(step, number, counts.total, error)
  }
  counts.done += 1
  await tell('finished', { ...(exitCode !== undefined && { exitCode }) })
}

function failureOf({ name, where }: Step, number: number, total: number, error: unknown): VitrineError {
  const reason = error instanceof Error ? error.message : String(error)
  const message = `Step ${number} of ${total}, ${JSON.stringify(name)} (${where}): ${reason}`
  return new VitrineError('setup_failed', message, {
    cause: error,
    details: {
      step: number,
      name,
      where,
      ...(error instanceof CommandFailure && error.facts),
      ...(isVitrineError(error) && { code: error.code }),
    },
  })
}
