import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { abortable } from '../abortable.ts'
import { measurement } from '../measurement.ts'
import { type PeerWatcherName, peerWatchers } from '../peers/watchers.ts'
import { median, percentile, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { createFiles, pathsOf } from './trees.ts'
import { ours, type RunningWatcher, theirs } from './watchers.ts'
import { byAProcess, byTheHost } from './writer.ts'

const bar = { p50: 3, p99: 15 }
const ourPauseMs = 12
/** An event that arrives before its write returns counts as 0 ms, which is no divisor. */
const leastMs = 0.01
const peers: readonly PeerWatcherName[] = ['parcel', 'chokidar', 'tanstack']
const writers = ['by the host', 'by a process'] as const

type WatcherName = PeerWatcherName | 'ours'
type Writing = (typeof writers)[number]
type Figures = Record<Writing | 'starts', number[]>
const all: readonly WatcherName[] = ['ours', ...peers]

interface Tree {
  readonly files: number
  readonly folders: number
}

interface Sizes {
  readonly trees: readonly Tree[]
  /** The number of turns of each watcher, so that other load on the machine affects all of them. */
  readonly turns: number
  readonly writes: Readonly<Record<WatcherName, number>>
}

/** The time from the return of a write until a reader has its event. */
export const latency = measurement<Sizes>({
  name: 'latency',
  what: 'a write until a reader of files.watch() has its event, in trees of 1,000 and 50,000 files',
  against: '@parcel/watcher; chokidar; TanStack watchWorkspace',
  bars: [`≤ ${bar.p50} / ≤ ${bar.p99} ms, 0 missed`],
  needs: ['peers'],
  sizes: {
    full: {
      trees: [
        { files: 1_000, folders: 20 },
        { files: 50_000, folders: 1_000 },
      ],
      turns: 2,
      writes: { ours: 125, parcel: 15, chokidar: 60, tanstack: 6 },
    },
    tiny: {
      trees: [{ files: 100, folders: 5 }],
      turns: 1,
      writes: { ours: 5, parcel: 2, chokidar: 2, tanstack: 1 },
    },
  },
  run,
})

async function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  const rows: Row[] = []
  for (const tree of sizes.trees) rows.push(...(await onTree(tree, sizes, signal)))
  return rows
}

async function onTree(
  { files, folders }: Tree,
  { turns, writes: writesOf }: Sizes,
  signal: AbortSignal,
): Promise<Row[]> {
  const title = `${files.toLocaleString('en')} files in ${folders.toLocaleString('en')} folders`
  return inScratch(async (folder) => {
    const root = join(folder, 'workspace')
    const paths = pathsOf(files, folders)
    mkdirSync(root)
    createFiles(root, paths)
    const figures = new Map<WatcherName, Figures>(
      all.map((who) => [who, { starts: [], 'by the host': [], 'by a process': [] }]),
    )
    // One watcher at a time: two watchers of one tree would slow each other.
    for (let turn = 0; turn < turns; turn += 1) {
      for (const [who, mine] of figures) {
        signal.throwIfAborted()
        const began = performance.now()
        const watching =
          who === 'ours'
            ? await ours(root, join(folder, `ours-${turn}`))
            : await theirs(peerWatchers[who], root)
        mine.starts.push(performance.now() - began)
        const pauseMs = who === 'ours' ? ourPauseMs : peerWatchers[who].pauseMs
        try {
          for (const writer of writers) {
            const chosen = some(paths, writesOf[who])
            mine[writer].push(...(await abortable(signal, measured(watching, writer, root, chosen, pauseMs))))
          }
        } finally {
          await watching.stop()
        }
      }
    }
    const mine = figures.get('ours')!
    return writers.flatMap((writer) => [
      ourRow(`written ${writer}, seen by files.watch(): ${title}`, mine[writer], mine.starts),
      ...peers.map((who) => peerRow(who, writer, mine[writer], figures.get(who)!)),
    ])
  })
}

/** Milliseconds from each write to its event; infinity if there was no event. */
async function measured(
  watching: RunningWatcher,
  writer: Writing,
  root: string,
  paths: readonly string[],
  pauseMs: number,
): Promise<number[]> {
  const before = watching.changes.length
  const write = writer === 'by the host' ? byTheHost : byAProcess(watching.sandbox)
  const times = await write(root, paths, pauseMs)
  const wanted = new Set(paths)
  const receivedAt = new Map<string, number>()
  let seen = before
  await watching.untilQuiet(() => {
    for (const { path, at } of watching.changes.slice(seen))
      if (wanted.has(path) && !receivedAt.has(path)) receivedAt.set(path, at)
    seen = watching.changes.length
    return receivedAt.size === wanted.size
  })
  // An event that arrives before its write returns counts as 0 ms.
  return paths.map((path, index) =>
    Math.max(0, (receivedAt.get(path) ?? Number.POSITIVE_INFINITY) - times[index]!),
  )
}

/** Chooses random paths from the whole tree. */
function some(paths: readonly string[], count: number): string[] {
  const chosen = new Set<string>()
  while (chosen.size < count) chosen.add(paths[Math.floor(Math.random() * paths.length)]!)
  return [...chosen]
}

function ourRow(what: string, took: readonly number[], starts: readonly number[]): Row {
  const [p50, p99] = [median(took), percentile(took, 0.99)]
  return {
    what,
    measured: `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, ${missed(took)} missed of ${took.length}`,
    against: `started in ${median(starts).toFixed(0)} ms with the sandbox; journal in SQLite, contents stored`,
    bar: `≤ ${bar.p50} / ≤ ${bar.p99} ms, 0 missed`,
    holds: p50 <= bar.p50 && p99 <= bar.p99 && missed(took) === 0,
  }
}

function peerRow(who: PeerWatcherName, writer: Writing, mine: readonly number[], figures: Figures): Row {
  const { name, without } = peerWatchers[who]
  const { [writer]: took, starts } = figures
  const [p50, p99] = [median(took), percentile(took, 0.99)]
  return {
    what: `the same, ${writer}`,
    measured: `${(median(mine) / Math.max(p50, leastMs)).toFixed(3)} × of p50`,
    against: `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, ${missed(took)} missed of ${took.length}, started in ${median(starts).toFixed(0)} ms: ${name} (${without})`,
    bar: '',
    holds: null,
  }
}

function missed(took: readonly number[]): number {
  return took.filter((ms) => ms === Number.POSITIVE_INFINITY).length
}
