// Compares the versions of agents that are pinned with what is published:
//   npm run audit:agents
// Ends with 1 when a pinned version is no longer there, since then nobody can install that agent.
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

/** What is published under that name and version; nothing when the registry says that it has none. */
async function view(npm: NpmClient, spec: string): Promise<Published | undefined> {
  const fields = ['version', 'engines', 'optionalDependencies', 'dist-tags']
  try {
    const { stdout } = await run(process.execPath, [npm.script, 'view', spec, ...fields, '--json'], {
      maxBuffer: 16 * 1024 * 1024,
    })
    // A version that is not there is an empty answer and no error.
    return stdout.trim() === '' ? undefined : (JSON.parse(stdout) as Published)
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    if (/\bE404\b|\bETARGET\b/.test(stderr)) return undefined
    throw new Error(`npm view ${spec} failed: ${stderr.trim() || String(error)}`, { cause: error })
  }
}

/** Programs for this machine come as packages of their own, and some are never published. */
async function missingPrograms(npm: NpmClient, published: Published | undefined): Promise<string[]> {
  const own = new RegExp(`\\b${process.platform}-${process.arch}$`)
  const wanted = Object.entries(published?.optionalDependencies ?? {}).filter(([name]) => own.test(name))
  const missing: string[] = []
  for (const [name, version] of wanted) {
    // Under another name, as some are.
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
    ...(found === undefined ? ['THE PINNED VERSION IS GONE'] : []),
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
