import type { Benchmarks } from '../benchmarks.ts'
import type { Measurement, Need, Size } from '../measurement.ts'
import type { Row } from '../report.ts'
import { inChild } from './in-child.ts'

export interface MeasurementOutcome {
  readonly benchmark: string
  readonly measurement: string
  readonly rows: readonly Row[]
  /** The reason why there are no rows. */
  readonly failure?: string
}

export interface RunBenchmarksOptions {
  /** The module that exports `benchmarks`, for the process of each measurement. */
  readonly catalogue: URL
  readonly benchmarks: Benchmarks
  readonly names: readonly string[]
  readonly size: Size
  readonly signal: AbortSignal
  onStart?(benchmark: string, measurement: string): void
}

const needLimitMs = 300_000

/**
 * Runs the named benchmarks, one measurement after another so that they do not disturb each other, each in its own
 * process. A measurement that fails does not stop the others. A measurement of several benchmarks runs once.
 */
export async function* runBenchmarks(options: RunBenchmarksOptions): AsyncGenerator<MeasurementOutcome> {
  const { benchmarks, names, signal, onStart } = options
  const done = new Set<Measurement>()
  const prepared = new Map<Need, Promise<unknown>>()
  for (const benchmark of names)
    for (const measurement of benchmarks[benchmark] ?? []) {
      if (done.has(measurement)) continue
      done.add(measurement)
      if (signal.aborted) return
      onStart?.(benchmark, measurement.name)
      yield await outcomeOf(benchmark, measurement, prepared, options)
    }
}

async function outcomeOf(
  benchmark: string,
  { name, needs, limitMs }: Measurement,
  prepared: Map<Need, Promise<unknown>>,
  { catalogue, size, signal }: RunBenchmarksOptions,
): Promise<MeasurementOutcome> {
  const what = `${benchmark} ${name}`
  try {
    for (const need of needs) {
      if (!prepared.has(need)) prepared.set(need, prepare(need, signal))
      await prepared.get(need)
    }
    const script = new URL('./measure.ts', import.meta.url)
    const args = [catalogue.href, benchmark, name, size]
    // `measure.ts` returns rows.
    const rows = (await inChild({ what, script, args, limitMs: limitMs[size] }, signal)) as Row[]
    return { benchmark, measurement: name, rows }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const failure = message.startsWith(what) ? message : `${what} could not run: ${message}`
    return { benchmark, measurement: name, rows: [], failure }
  }
}

const preparing: Readonly<Record<Need, string>> = {
  build: 'Building the command',
  peers: 'Installing the packages to compare with, from the npm registry into .tmp/peers,',
}

function prepare(need: Need, signal: AbortSignal): Promise<unknown> {
  const script = new URL('./prepare.ts', import.meta.url)
  return inChild({ what: preparing[need], script, args: [need], limitMs: needLimitMs }, signal)
}
