import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { benchmarks } from '../src/benchmarks.ts'
import type { Measurement } from '../src/measurement.ts'
import type { Row } from '../src/report.ts'
import { type MeasurementOutcome, runBenchmarks } from '../src/running/run-benchmarks.ts'

/** Additional time for a build, the installation of the peers, and the end of processes. */
const moreMs = 15 * 60_000

describe.each(Object.entries(benchmarks))('the benchmark %s with tiny sizes', (name, measurements) => {
  const timeout = measurements.reduce((sum, { limitMs }) => sum + limitMs.tiny, moreMs)

  it('gives finite figures and every bar that it names', { timeout }, async ({ signal }) => {
    const outcomes: MeasurementOutcome[] = []
    for await (const outcome of runBenchmarks({
      catalogue: new URL('../src/benchmarks.ts', import.meta.url),
      benchmarks,
      names: [name],
      size: 'tiny',
      signal,
    }))
      outcomes.push(outcome)
    expect(outcomes.flatMap(({ failure }) => failure ?? [])).toEqual([])
    expect(outcomes.map(({ measurement }) => measurement)).toEqual(measurements.map((one) => one.name))
    for (const [index, { rows }] of outcomes.entries()) expectFigures(measurements[index]!, rows)
  })
})

function expectFigures({ name, bars }: Measurement, rows: readonly Row[]): void {
  expect(rows, name).not.toEqual([])
  for (const { what, measured, against, bar, holds } of rows) {
    const figures = `${measured} ${against}`
    expect(figures, what).toMatch(/\d/)
    expect(figures, what).not.toMatch(/NaN|Infinity|undefined|not available/)
    expect(holds === null, `${what}: a figure has either a bar or no verdict`).toBe(bar === '')
  }
  const actualBars = new Set(rows.map(({ bar }) => bar).filter((bar) => bar !== ''))
  expect([...actualBars].toSorted(), name).toEqual([...new Set(bars)].toSorted())
}

describe('the catalogue', () => {
  it('gives every measurement of a benchmark a unique name', () => {
    for (const [name, measurements] of Object.entries(benchmarks))
      expect(new Set(measurements.map((one) => one.name)).size, name).toBe(measurements.length)
  })

  it('the table of README.md matches the measurements', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const rows = Object.entries(benchmarks).flatMap(([benchmark, measurements]) =>
      measurements.map(({ name, what, against, bars }) => [
        `\`${benchmark} ${name}\``,
        what,
        against,
        bars.join('; '),
      ]),
    )
    expect(tableRows(readme)).toEqual(rows)
  })
})

/** The cells of the table lines that begin with a measurement's name. */
function tableRows(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}
