import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { measurement } from '../measurement.ts'
import { missingRow } from '../peers/peers.ts'
import { mebibytes, median, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import type { ArchiveFigures, ArchiveRequest } from './archive-host.ts'
import { compare, isAlike, type Likeness } from './compare.ts'
import { type ArchiveHostOptions, startHost } from './host.ts'
import { largeFilesOf, manyFilesOf, type WorkspaceSource } from './source.ts'

const bar = { ratio: 1.5, rssBytes: 64 * 1024 * 1024 }
const bars = [
  `≤ ${bar.ratio} ×`,
  'all alike: bytes, modes, owners, links, times to the µs',
  `< ${mebibytes(bar.rssBytes)}`,
]
const execute = promisify(execFile)

interface Rounds {
  readonly rounds: number
  /** Rounds with the plain streams that most users would use. */
  readonly plainRounds: number
}

/** Persisting and hydrating a workspace, compared with tar. */
export const manyFiles = measurement<Rounds & { readonly files: number }>({
  name: 'manyFiles',
  what: 'persist() and hydrate() of 5,000 files, 100 MiB: time, memory, and whether all is alike',
  against: 'tar cf and tar xf; OpenAI unix-local',
  bars,
  needs: ['peers'],
  sizes: {
    full: { files: 5_000, rounds: 5, plainRounds: 3 },
    tiny: { files: 100, rounds: 1, plainRounds: 1 },
  },
  async run({ files, ...rounds }, signal) {
    return rowsOf({ source: manyFilesOf(files), rounds, signal, peers: [besideOpenai] })
  },
})

export const largeFiles = measurement<Rounds & { readonly mebibytes: number }>({
  name: 'largeFiles',
  what: 'persist() and hydrate() of 4 files, 1 GiB: time, memory, and whether all is alike',
  against: 'tar cf and tar xf',
  bars,
  sizes: {
    full: { mebibytes: 1024, rounds: 3, plainRounds: 3 },
    tiny: { mebibytes: 8, rounds: 1, plainRounds: 1 },
  },
  async run({ mebibytes: size, ...rounds }, signal) {
    return rowsOf({ source: largeFilesOf(size), rounds, signal, peers: [] })
  },
})

interface ArchiveRun {
  readonly source: WorkspaceSource
  readonly rounds: Rounds
  readonly signal: AbortSignal
  readonly peers: readonly ((run: ArchiveRun, paths: ArchivePaths) => Promise<Row[]>)[]
}

interface ArchivePaths {
  readonly folder: string
  readonly source: string
  readonly archive: string
}

function newWorkspace(folder: string): string {
  const path = join(mkdtempSync(join(folder, 'out-')), 'workspace')
  mkdirSync(path)
  return path
}

function rowsOf(run: ArchiveRun): Promise<Row[]> {
  return inScratch(async (folder) => {
    const paths = {
      folder,
      source: join(folder, 'source', 'workspace'),
      archive: join(folder, 'ours.tar'),
    }
    mkdirSync(paths.source, { recursive: true })
    run.source.create(paths.source)
    const rows = [...(await persisting(run, paths)), ...(await hydrating(run, paths))]
    for (const request of ['persist', 'hydrate'] as const) rows.push(await memory(run, paths, request))
    for (const beside of run.peers) rows.push(...(await beside(run, paths)))
    return rows
  })
}

async function persisting(
  { source: { what }, rounds: { rounds, plainRounds }, signal }: ArchiveRun,
  { folder, source, archive }: ArchivePaths,
): Promise<Row[]> {
  const theirs = join(folder, 'theirs.tar')
  const turns = (runRequest: RunRequest, request: ArchiveRequest, times: number) =>
    inTurns(times, {
      tar: () => timed(() => execute('tar', ['cf', theirs, '-C', source, '.'])),
      ours: async () => (await runRequest(request, source)).ms,
      after: (who) => rmSync(who === 'tar' ? theirs : archive),
    })
  const { took, plainly } = await withHost(
    { who: 'ours', archive, folder: join(folder, 'persisting') },
    signal,
    async (runRequest) => ({
      plainly: await turns(runRequest, 'persistPlainly', plainRounds),
      took: await turns(runRequest, 'persist', rounds),
    }),
  )
  return [
    ratioRow(`persist() of ${what} to a file, read into the same memory in turn`, took, 'tar cf'),
    { ...ratioRow('the same by fs.writeFile(path, stream)', plainly, 'tar cf'), bar: '', holds: null },
  ]
}

async function hydrating(
  { source: { what, keeps }, rounds: { rounds, plainRounds }, signal }: ArchiveRun,
  { folder, source, archive }: ArchivePaths,
): Promise<Row[]> {
  await withHost({ who: 'ours', archive, folder: join(folder, 'packing') }, signal, (runRequest) =>
    runRequest('persist', source),
  )
  const likeness: { ours?: Likeness; tar?: Likeness } = {}
  let here = ''
  const turns = (runRequest: RunRequest, request: ArchiveRequest, times: number) =>
    inTurns(times, {
      tar() {
        here = newWorkspace(folder)
        return timed(() => execute('tar', ['xf', archive, '-C', here]))
      },
      async ours() {
        here = newWorkspace(folder)
        return (await runRequest(request, here)).ms
      },
      after(who, last) {
        if (last) likeness[who] = compare(source, here)
        if (!keeps) rmSync(here, { recursive: true })
      },
    })
  const { took, plainly } = await withHost(
    { who: 'ours', archive, folder: join(folder, 'hydrating') },
    signal,
    async (runRequest) => ({
      plainly: await turns(runRequest, 'hydratePlainly', plainRounds),
      took: await turns(runRequest, 'hydrate', rounds),
    }),
  )
  return [
    ratioRow(
      `hydrate() of ${what} from that file, read into the same memory in turn, watching on`,
      took,
      'tar xf of the same file',
    ),
    {
      ...ratioRow('the same from createReadStream, which takes new memory for each part', plainly, 'tar xf'),
      bar: '',
      holds: null,
    },
    {
      what: `${what}: what was hydrated beside what was persisted`,
      measured: formatLikeness(likeness.ours!),
      against: `${formatLikeness(likeness.tar!)} by tar xf`,
      bar: 'all alike: bytes, modes, owners, links, times to the µs',
      holds: isAlike(likeness.ours!),
    },
  ]
}

/** Measures memory in a new process. */
async function memory(
  { source: { what }, signal }: ArchiveRun,
  paths: ArchivePaths,
  request: ArchiveRequest,
): Promise<Row> {
  const { folder, source, archive } = paths
  const { ms, rssBytes } = await withHost(
    { who: 'ours', archive, folder: join(folder, `fresh-${request}`) },
    signal,
    (runRequest) => runRequest(request, request === 'persist' ? source : newWorkspace(folder)),
  )
  return {
    what: `${request}() of ${what}: memory of a new process`,
    measured: `+${mebibytes(rssBytes)} (and ${ms.toFixed(0)} ms, the first time)`,
    against: '',
    bar: `< ${mebibytes(bar.rssBytes)}`,
    holds: rssBytes < bar.rssBytes,
  }
}

async function besideOpenai(
  { source: { what }, signal }: ArchiveRun,
  { folder, source }: ArchivePaths,
): Promise<Row[]> {
  const rows: Row[] = []
  const archive = join(folder, 'openai.json')
  try {
    await withHost({ who: 'openai', archive, folder: join(folder, 'openai') }, signal, async (runRequest) => {
      for (const request of ['persist', 'hydrate'] as const) {
        const { ms, rssBytes } = await runRequest(request, source)
        rows.push({
          what: `${request} of ${what}, once`,
          measured: '',
          against: `${ms.toFixed(0)} ms, +${mebibytes(rssBytes)}: OpenAI unix-local 0.20.0 (JSON and base64 in memory; no journal, no modes, links or times)`,
          bar: '',
          holds: null,
        })
      }
    })
  } catch (error) {
    rows.push(missingRow(`persist and hydrate of ${what}`, `OpenAI unix-local 0.20.0: ${String(error)}`))
  }
  return rows
}

type RunRequest = (request: ArchiveRequest, root: string) => Promise<ArchiveFigures>

async function withHost<T>(
  options: ArchiveHostOptions,
  signal: AbortSignal,
  use: (runRequest: RunRequest) => Promise<T>,
): Promise<T> {
  const host = await startHost(options, signal)
  try {
    return await use(host.run)
  } finally {
    await host.end()
  }
}

type Turn = 'tar' | 'ours'

/** Alternates between tar and ours; the first pair is a warm-up. Each run's output is removed before the next run starts. */
async function inTurns(
  rounds: number,
  runs: Readonly<Record<Turn, () => Promise<number>>> & { after(who: Turn, last: boolean): void },
): Promise<Record<Turn, number[]>> {
  const took: Record<Turn, number[]> = { tar: [], ours: [] }
  for (let round = -1; round < rounds; round += 1) {
    for (const who of round % 2 === 0 ? (['tar', 'ours'] as const) : (['ours', 'tar'] as const)) {
      const ms = await runs[who]()
      if (round >= 0) took[who].push(ms)
      runs.after(who, round === rounds - 1)
    }
  }
  return took
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function ratioRow(what: string, took: Record<Turn, number[]>, against: string): Row {
  const [mine, tar] = [median(took.ours), median(took.tar)]
  const ratio = mine / tar
  return {
    what,
    measured: `${mine.toFixed(0)} ms (${range(took.ours)}), ${ratio.toFixed(2)} ×`,
    against: `${tar.toFixed(0)} ms (${range(took.tar)}) ${against} (no journal)`,
    bar: `≤ ${bar.ratio} ×`,
    holds: ratio <= bar.ratio,
  }
}

function range(numbers: readonly number[]): string {
  return `${Math.min(...numbers).toFixed(0)} to ${Math.max(...numbers).toFixed(0)}`
}

function formatLikeness({ paths, missing, bytes, modes, links, times }: Likeness): string {
  return `${paths} paths, differing: ${missing} missing, ${bytes} bytes, ${modes} modes, ${links} links, ${times} times`
}
