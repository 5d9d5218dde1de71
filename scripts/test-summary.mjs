// Ends a run with what failed, by name and first lines, and with what was really counted over all given reports.
import { readFileSync } from 'node:fs'

const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')))
const total = (name) => reports.reduce((sum, report) => sum + report[name], 0)

for (const file of reports.flatMap((report) => report.testResults)) {
  const failed = file.assertionResults.filter(({ status }) => status === 'failed')
  if (failed.length === 0 && file.status === 'failed')
    console.log(`FAILED ${file.name}\n  ${firstLines(file.message)}`)
  for (const test of failed) {
    console.log(`FAILED ${file.name} > ${test.fullName}\n  ${firstLines(test.failureMessages.join('\n'))}`)
  }
}

const skipped = total('numPendingTests') + total('numTodoTests')
console.log(
  `${total('numPassedTests')} passed, ${total('numFailedTests')} failed${skipped ? `, ${skipped} skipped` : ''}`,
)

function firstLines(text) {
  return text.split('\n').slice(0, 12).join('\n  ').slice(0, 1_500)
}
