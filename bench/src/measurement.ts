import type { Row } from './report.ts'

/** `full` gives comparable figures; `tiny` shows within seconds that a measurement works, but its figures mean nothing. */
export type Size = 'full' | 'tiny'

/** Preparations that run once before the measurements that need them: bundle the command, install the peers. */
export type Need = 'build' | 'peers'

export interface Measurement {
  readonly name: string
  readonly what: string
  /** The comparison; empty if there is none. */
  readonly against: string
  /** The bars of its rows, as printed; empty if no figure has a bar. */
  readonly bars: readonly string[]
  readonly needs: readonly Need[]
  readonly limitMs: Readonly<Record<Size, number>>
  /** Must end everything it starts before it returns, also when the signal is aborted. */
  run(size: Size, signal: AbortSignal): Promise<Row[]>
}

interface Definition<Sizes>
  extends Pick<Measurement, 'name' | 'what'>,
    Partial<Pick<Measurement, 'against' | 'bars' | 'needs' | 'limitMs'>> {
  readonly sizes: Readonly<Record<Size, Sizes>>
  run(sizes: Sizes, signal: AbortSignal): Promise<Row[]>
}

const minute = 60_000
const usualLimitMs: Readonly<Record<Size, number>> = { full: 10 * minute, tiny: 5 * minute }

/** Defines a measurement whose sizes are one parameter object. */
export function measurement<Sizes>(definition: Definition<Sizes>): Measurement {
  const { name, what, against = '', bars = [], needs = [], limitMs = usualLimitMs, sizes } = definition
  return {
    name,
    what,
    against,
    bars,
    needs,
    limitMs,
    run: (size, signal) => definition.run(sizes[size], signal),
  }
}
