// Run after a whole `npm test` and `npm run test:soak`: stores the durations of the longest test files, which order the next runs.
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

/** The slower of both: a file of the soak that starts last would run alone at its end, too. */
const durations = new Map<string, number>()
for (const report of ['test-report.json', 'soak-report.json'])
  for (const { name, startTime, endTime } of readReport(report).testResults) {
    const path = relative(root, name)
    durations.set(path, Math.max(durations.get(path) ?? 0, Math.round((endTime - startTime) / 1_000)))
  }
const longest = [...durations]
  .filter(([, seconds]) => seconds >= leastSeconds)
  .toSorted(([, one], [, other]) => other - one)
writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(longest), null, 2)}\n`)

function readReport(name: string): TestReport {
  return JSON.parse(readFileSync(join(root, '.tmp', name), 'utf8'))
}
