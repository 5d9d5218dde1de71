import type { Benchmarks } from './benchmarks.ts'
import type { Size } from './measurement.ts'
import type { MeasurementOutcome } from './running/run-benchmarks.ts'

/** One line of the table: a measured figure, what it is compared with, and the bar, which is its limit. */
export interface Row {
  readonly what: string
  readonly measured: string
  readonly against: string
  /** The limit that the project promises for the figure, as printed; empty if the figure is only informative. */
  readonly bar: string
  /** Whether the figure is within its bar; null if it has none. */
  readonly holds: boolean | null
}

/** Formats all measurements as one table; the reasons of failures are below it, since they are long. */
export function table(outcomes: readonly MeasurementOutcome[], size: Size): string {
  const cells = [['', 'what', 'measured', 'against', 'bar', ''], ...outcomes.flatMap(linesOf)]
  const notes = size === 'tiny' ? ['tiny sizes: the figures mean nothing'] : []
  return ['', columns(cells), ...notes, ...outcomes.flatMap(({ failure }) => failure ?? [])].join('\n')
}

function linesOf({ benchmark, measurement, rows, failure }: MeasurementOutcome): string[][] {
  const name = `${benchmark} ${measurement}`
  if (failure !== undefined) return [[name, '', '', '', '', 'FAILED']]
  return rows.map(({ what, measured, against, bar, holds }) => [
    name,
    what,
    measured,
    against,
    bar,
    verdict(holds),
  ])
}

/** Formats the list of all measurements. */
export function listing(benchmarks: Benchmarks): string {
  const lines = Object.entries(benchmarks).flatMap(([benchmark, measurements]) =>
    measurements.map(({ name, what, against, bars }) => [
      `${benchmark} ${name}`,
      what,
      against,
      bars.join('; '),
    ]),
  )
  return columns([['', 'what', 'against', 'bars'], ...lines])
}

function columns(cells: readonly (readonly string[])[]): string {
  const widths = cells[0]!.map((_, index) => Math.max(...cells.map((line) => line[index]!.length)))
  return cells
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function verdict(holds: boolean | null): string {
  if (holds === null) return ''
  return holds ? 'holds' : 'FAILS'
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function rate(perSecond: number): string {
  return `${Math.round(perSecond).toLocaleString('en')}/s`
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
