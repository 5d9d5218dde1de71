import type { Row } from './report.ts'

/** `full` gives figures to compare; `tiny` shows in seconds that a measurement works, and its figures mean nothing. */
export type Size = 'full' | 'tiny'

/** What is made once before the measurements that use it: the bundled command, and the packages to compare with. */
export type Need = 'build' | 'peers'

export interface Measurement {
  readonly name: string
  readonly what: string
  /** What it is measured beside; empty where it stands alone. */
  readonly against: string
  /** Every bar that its rows have, in their words; empty for figures that are only to be looked at. */
  readonly bars: readonly string[]
  readonly needs: readonly Need[]
  readonly limitMs: Readonly<Record<Size, number>>
  /** Ends what it has started before it returns, also when the signal is aborted. */
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

/** A measurement whose sizes are one parameter object. */
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
