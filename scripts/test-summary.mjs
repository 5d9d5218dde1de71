// Prints the failed tests with the first lines of their errors, and the totals over all given reports.
// Fails if a report is missing, unreadable, or contains a failure.
import { readFileSync } from 'node:fs'

const reports = process.argv.slice(2).map((path) => ({ path, report: readReport(path) }))
const found = reports.flatMap(({ report }) => report ?? [])
const total = (name) => found.reduce((sum, report) => sum + report[name], 0)

for (const file of found.flatMap((report) => report.testResults)) {
  const failed = file.assertionResults.filter(({ status }) => status === 'failed')
  if (failed.length === 0 && file.status === 'failed')
    console.log(`FAILED ${file.name}\n  ${firstLines(file.message)}`)
  for (const test of failed) {
    console.log(`FAILED ${file.name} > ${test.fullName}\n  ${firstLines(test.failureMessages.join('\n'))}`)
  }
}
for (const { path, report } of reports) if (report === undefined) console.log(`MISSING ${path}`)

const skipped = total('numPendingTests') + total('numTodoTests')
console.log(
  `${total('numPassedTests')} passed, ${total('numFailedTests')} failed${skipped ? `, ${skipped} skipped` : ''}`,
)
if (found.length < reports.length || found.some(({ success }) => !success)) process.exitCode = 1

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function firstLines(text) {
  return text.split('\n').slice(0, 12).join('\n  ').slice(0, 1_500)
}
