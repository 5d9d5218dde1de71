import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { root } from '../tools.ts'

interface Report {
  readonly passed: number
  readonly failed?: number
  readonly skipped?: number
}

function summaryOf(reports: readonly (Report | 'missing')[]): { status: number | null; stdout: string } {
  const folder = mkdtempSync(join(tmpdir(), 'vitrine-summary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const paths = reports.map((report, index) => {
    const path = join(folder, `${index}.json`)
    if (report !== 'missing') writeFileSync(path, JSON.stringify(written(report)))
    return path
  })
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'scripts', 'test-summary.mjs'), ...paths],
    { encoding: 'utf8' },
  )
  return { status, stdout: stdout.replaceAll(folder, '') }
}

function written({ passed, failed = 0, skipped = 0 }: Report) {
  const failures = Array.from({ length: failed }, (_, index) => ({
    status: 'failed',
    fullName: `breaks ${index}`,
    failureMessages: ['expected 1, got 2'],
  }))
  return {
    success: failed === 0,
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: skipped,
    numTodoTests: 0,
    testResults: [
      { name: 'a.test.ts', status: failed > 0 ? 'failed' : 'passed', assertionResults: failures },
    ],
  }
}

it('the summary of runs that passed counts over all reports and succeeds', () => {
  expect(summaryOf([{ passed: 2, skipped: 1 }, { passed: 3 }])).toEqual({
    status: 0,
    stdout: '5 passed, 0 failed, 1 skipped\n',
  })
})

it('the summary names failed tests and fails', () => {
  const { status, stdout } = summaryOf([{ passed: 2 }, { passed: 3, failed: 1 }])
  expect(status).toBe(1)
  expect(stdout).toBe('FAILED a.test.ts > breaks 0\n  expected 1, got 2\n5 passed, 1 failed\n')
})

it('the summary names a missing report and fails', () => {
  expect(summaryOf([{ passed: 2 }, 'missing'])).toEqual({
    status: 1,
    stdout: 'MISSING /1.json\n2 passed, 0 failed\n',
  })
})
