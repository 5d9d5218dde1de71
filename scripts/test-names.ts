import { readFileSync } from 'node:fs'

// node scripts/run.mjs scripts/test-names.ts <report.json> [<later-report.json> …]
// Prints the full names of the tests that ran according to a report of `npm test` (.tmp/test-report.json). With later
// reports it prints instead which of these names ran in none of them, and which names are new there.

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
    }[]
  }[]
}

/** How many tests of each name ran; a name can stand for several. */
type Names = ReadonlyMap<string, number>

const ran = ['passed', 'failed']

/** The path of a test file from the root of the repository, wherever that was. */
function fileOf(path: string): string {
  return /\/((?:packages|conformance|docs|examples|scripts)\/.*)$/.exec(path)?.[1] ?? path
}

function namesOf(path: string): Names {
  const names = new Map<string, number>()
  // A report of vitest, which only this script reads.
  const report = JSON.parse(readFileSync(path, 'utf8')) as Report
  for (const { name: file, assertionResults } of report.testResults)
    for (const { ancestorTitles, title, status } of assertionResults) {
      if (!ran.includes(status)) continue
      const name = [fileOf(file), ...ancestorTitles.filter(Boolean), title].join(' > ')
      names.set(name, (names.get(name) ?? 0) + 1)
    }
  return names
}

/** What is in one of them is in all of them together, as often as in the one that has it most often. */
function union(all: readonly Names[]): Names {
  const names = new Map<string, number>()
  for (const [name, count] of all.flatMap((one) => [...one]))
    names.set(name, Math.max(count, names.get(name) ?? 0))
  return names
}

/** The names of `some` that `others` lack, in order. */
function missingFrom(some: Names, others: Names): string[] {
  return [...some.keys()].filter((name) => some.get(name)! > (others.get(name) ?? 0)).toSorted()
}

function print(title: string, names: readonly string[]): void {
  process.stdout.write(
    `${title}: ${names.length}\n${names.map((name) => `  ${JSON.stringify(name)}\n`).join('')}`,
  )
}

const [first, ...later] = process.argv.slice(2)
if (first === undefined) {
  process.stderr.write(
    'usage: node scripts/run.mjs scripts/test-names.ts <report.json> [<later-report.json> …]\n',
  )
  process.exit(2)
}
const before = namesOf(first)
if (later.length === 0) print('ran', [...before.keys()].toSorted())
else {
  const after = union(later.map(namesOf))
  print('gone', missingFrom(before, after))
  print('new', missingFrom(after, before))
}
