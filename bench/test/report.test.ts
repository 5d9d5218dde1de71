import { expect, it } from 'vitest'
import { table } from '../src/report.ts'

it('the table holds the rows of all benchmarks, and the reasons of failed measurements below it', () => {
  const row = { what: 'an append', measured: '1 ms', against: '', bar: '≤ 2 ms', holds: true }
  const outcomes = [
    { benchmark: 'journal', measurement: 'latency', rows: [row, { ...row, measured: '3 ms', holds: false }] },
    {
      benchmark: 'agents',
      measurement: 'endings',
      rows: [],
      failure: 'agents endings did not end within 9 s.',
    },
  ]
  expect(
    table(outcomes, 'full')
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    [''],
    ['', 'what', 'measured', 'against', 'bar'],
    ['journal latency', 'an append', '1 ms', '≤ 2 ms', 'holds'],
    ['journal latency', 'an append', '3 ms', '≤ 2 ms', 'FAILS'],
    ['agents endings', 'FAILED'],
    ['agents endings did not end within 9 s.'],
  ])
  expect(table(outcomes, 'tiny')).toContain('tiny sizes: the figures mean nothing')
})
