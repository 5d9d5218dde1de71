// Compares the pinned versions of agents with the published ones:
//   npm run audit:agents
// Exits with 1 if a pinned version is no longer published, since that agent cannot be installed.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findNpm, type NpmClient } from '../packages/agents/src/install/npm-client.ts'
import { knownAgents } from '../packages/agents/src/registry/known-agents.ts'

interface Published {
  readonly version: string
  readonly engines?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly 'dist-tags'?: Readonly<Record<string, string>>
}

interface Row {
  readonly agent: string
  readonly package: string
  readonly pinned: string
  readonly latest: string
  readonly engines: string
  readonly note: string
  readonly isUnpublished: boolean
}

const run = promisify(execFile)
const atOnce = 4

/** The published metadata of a package; undefined if the registry has no such version. */
async function view(npm: NpmClient, spec: string): Promise<Published | undefined> {
  const fields = ['version', 'engines', 'optionalDependencies', 'dist-tags']
  try {
    const { stdout } = await run(process.execPath, [npm.script, 'view', spec, ...fields, '--json'], {
      maxBuffer: 16 * 1024 * 1024,
    })
    // npm prints nothing, without an error, for a version that does not exist.
    return stdout.trim() === '' ? undefined : (JSON.parse(stdout) as Published)
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    if (/\bE404\b|\bETARGET\b/.test(stderr)) return undefined
    throw new Error(`npm view ${spec} failed: ${stderr.trim() || String(error)}`, { cause: error })
  }
}

/** Binaries for this platform are optional packages, and some of them are never published. */
async function missingPrograms(npm: NpmClient, published: Published | undefined): Promise<string[]> {
  const own = new RegExp(`\\b${process.platform}-${process.arch}$`)
  const wanted = Object.entries(published?.optionalDependencies ?? {}).filter(([name]) => own.test(name))
  const missing: string[] = []
  for (const [name, version] of wanted) {
    // Some are aliases of another package.
    const spec = version.startsWith('npm:') ? version.slice('npm:'.length) : `${name}@${version}`
    if ((await view(npm, spec)) === undefined) missing.push(spec)
  }
  return missing
}

async function audit(npm: NpmClient, agent: string, name: string, pinned: string): Promise<Row> {
  const found = await view(npm, `${name}@${pinned}`)
  const newest = await view(npm, name)
  const latest = newest?.version
  const notes = [
    ...(found === undefined ? ['THE PINNED VERSION IS NOT PUBLISHED'] : []),
    ...(await missingPrograms(npm, found)).map((spec) => `pinned: ${spec} is missing`),
    ...(latest === undefined || latest === pinned
      ? []
      : (await missingPrograms(npm, newest)).map((spec) => `latest: ${spec} is missing`)),
  ]
  return {
    agent,
    package: name,
    pinned,
    latest: latest ?? '-',
    engines: found?.engines?.node ?? '-',
    note: notes.join('; ') || (latest === pinned ? 'up to date' : ''),
    isUnpublished: found === undefined,
  }
}

function show(rows: readonly Row[]): void {
  const columns = ['agent', 'package', 'pinned', 'latest', 'engines', 'note'] as const
  const widths = columns.map((name) => Math.max(name.length, ...rows.map((row) => row[name].length)))
  const line = (cells: readonly string[]) =>
    console.log(
      cells
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  line(columns)
  for (const row of rows) line(columns.map((name) => row[name]))
}

const npm = findNpm(process.env, process.execPath)
const pins = knownAgents.flatMap(({ name, source }) =>
  source.kind === 'npm' ? source.packages.map((one) => ({ agent: name, ...one })) : [],
)
const rows: Row[] = []
const queue = pins.map((pin, index) => ({ ...pin, index }))
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let pin = queue.shift(); pin !== undefined; pin = queue.shift())
      rows[pin.index] = await audit(npm, pin.agent, pin.name, pin.version)
  }),
)
show(rows)
if (rows.some(({ isUnpublished: gone }) => gone)) process.exitCode = 1
