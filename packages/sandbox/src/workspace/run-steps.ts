import { cancelled } from '@vitrine/archives'
import type { Operation } from '@vitrine/journal'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import { CommandFailure } from './command-failure.ts'
import type { FieldPath } from './invalid.ts'

/** One step of applying a manifest. */
export interface PreparationStep {
  readonly field: FieldPath
  readonly name: string
  /** Resolves to the exit code if the step is a command. */
  run(signal: AbortSignal): Promise<number | undefined>
}

export interface RunStepsOptions {
  readonly operation: Pick<Operation, 'progress'>
  /** Maximum number of steps of a group that run at the same time. */
  readonly concurrency: number
  readonly signal: AbortSignal
}

interface Numbered {
  readonly step: PreparationStep
  readonly number: number
}

/** Runs groups of steps one after the other and reports the progress of each step. */
export async function runSteps(
  groups: readonly (readonly PreparationStep[])[],
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

/** Runs the steps of a group in parallel. The first failure aborts the others; all are awaited. */
async function runGroup(group: readonly Numbered[], counts: Counts, options: RunStepsOptions): Promise<void> {
  const failed = new AbortController()
  const signal = AbortSignal.any([options.signal, failed.signal])
  let failure: { readonly error: unknown } | undefined
  const queue = group.values()
  const worker = async () => {
    for (const one of queue) {
      if (signal.aborted) return
      try {
        await runStep(one, counts, options, signal)
      } catch (error) {
        failure ??= { error }
        failed.abort(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.concurrency, group.length) }, worker))
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
  const report = (state: 'started' | 'finished' | 'failed', facts: Readonly<Record<string, unknown>> = {}) =>
    operation.progress({ step: number, name, state, ...counts, ...facts })
  await report('started')
  let exitCode: number | undefined
  try {
    exitCode = await step.run(signal)
  } catch (error) {
    const facts = error instanceof CommandFailure ? { exitCode: error.result.exitCode } : {}
    // Throw the step's own error even if reporting it fails.
    await report('failed', { ...facts, ...(signal.aborted && { outcome: 'cancelled' }) }).catch(
      () => undefined,
    )
    throw signal.aborted ? cancelled(signal) : failureOf(step, number, counts.total, error)
  }
  counts.done += 1
  await report('finished', { ...(exitCode !== undefined && { exitCode }) })
}

function failureOf(
  { name, field }: PreparationStep,
  number: number,
  total: number,
  error: unknown,
): VitrineError {
  const reason = error instanceof Error ? error.message : String(error)
  const message = `Step ${number} of ${total}, ${JSON.stringify(name)} (${field}): ${reason}`
  return new VitrineError('setup_failed', message, {
    cause: error,
    details: {
      step: number,
      name,
      where: field,
      ...(error instanceof CommandFailure && error.facts),
      ...(isVitrineError(error) && { code: error.code }),
    },
  })
}
