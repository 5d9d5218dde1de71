// Run after a whole `npm test`: stores the durations of the longest test files, which order the next runs.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { durationsFile } from './test-order.ts'
import { root } from './tools.ts'

/** The order of shorter files does not matter. */
const leastSeconds = 3

interface TestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly startTime: number
    readonly endTime: number
  }[]
}

const report: TestReport = JSON.parse(readFileSync(join(root, '.tmp', 'test-report.json'), 'utf8'))
const durations = report.testResults
  .map(
    ({ name, startTime, endTime }) =>
      [relative(root, name), Math.round((endTime - startTime) / 1_000)] as const,
  )
  .filter(([, seconds]) => seconds >= leastSeconds)
  .toSorted(([, one], [, other]) => other - one)
writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(durations), null, 2)}\n`)
