import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

type Test = readonly [describe: string, title: string, status: string]

/** The script's output for reports with these tests, which all belong to one file. */
function printed(...reports: readonly (readonly Test[])[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'vitrine-names-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const paths = reports.map((tests, index) => {
    const path = join(folder, `${index}.json`)
    const assertionResults = tests.map(([group, title, status]) => ({
      ancestorTitles: [group],
      title,
      status,
    }))
    const name = `/somewhere/${index}/packages/journal/test/a.test.ts`
    writeFileSync(path, JSON.stringify({ testResults: [{ name, assertionResults }] }))
    return path
  })
  return execFileSync(process.execPath, ['scripts/test-names.ts', ...paths], { encoding: 'utf8' })
}

it('prints the full names of the tests that ran', () => {
  expect(
    printed([
      ['a tail', 'ends', 'passed'],
      ['a tail', 'begins', 'failed'],
      ['a tail', 'is skipped', 'pending'],
    ]),
  ).toBe(
    'ran: 2\n  "packages/journal/test/a.test.ts > a tail > begins"\n  "packages/journal/test/a.test.ts > a tail > ends"\n',
  )
})

it('prints the names that ran in no later report, and those that are new', () => {
  const first: Test[] = [
    ['a tail', 'stays', 'passed'],
    ['a tail', 'moves to the soak', 'passed'],
    ['a tail', 'is skipped now', 'passed'],
    ['a tail', 'is there twice', 'passed'],
    ['a tail', 'is there twice', 'passed'],
  ]
  const second: Test[] = [
    ['a tail', 'stays', 'passed'],
    ['a tail', 'is skipped now', 'pending'],
    ['a tail', 'is there twice', 'passed'],
    ['a tail', 'is new', 'passed'],
  ]
  const soak: Test[] = [['a tail', 'moves to the soak', 'passed']]
  const file = 'packages/journal/test/a.test.ts'
  expect(printed(first, second, soak)).toBe(
    `missing: 2\n  "${file} > a tail > is skipped now"\n  "${file} > a tail > is there twice"\nnew: 1\n  "${file} > a tail > is new"\n`,
  )
})
