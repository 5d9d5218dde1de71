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

/** The number of tests that ran per name; several tests can share a name. */
type Names = ReadonlyMap<string, number>

const ran = ['passed', 'failed']

/** The path of a test file relative to the repository that the report comes from. */
function fileOf(path: string): string {
  return /\/((?:packages|conformance|docs|examples|scripts)\/.*)$/.exec(path)?.[1] ?? path
}

function namesOf(path: string): Names {
  const names = new Map<string, number>()
  // The report comes from vitest, so its shape is known.
  const report = JSON.parse(readFileSync(path, 'utf8')) as Report
  for (const { name: file, assertionResults } of report.testResults)
    for (const { ancestorTitles, title, status } of assertionResults) {
      if (!ran.includes(status)) continue
      const name = [fileOf(file), ...ancestorTitles.filter(Boolean), title].join(' > ')
      names.set(name, (names.get(name) ?? 0) + 1)
    }
  return names
}

/** The union of several reports, with the highest count of each name. */
function union(all: readonly Names[]): Names {
  const names = new Map<string, number>()
  for (const [name, count] of all.flatMap((one) => [...one]))
    names.set(name, Math.max(count, names.get(name) ?? 0))
  return names
}

/** The sorted names that occur more often in `some` than in `others`. */
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
  print('missing', missingFrom(before, after))
  print('new', missingFrom(after, before))
}
