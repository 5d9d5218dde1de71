import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type PeerWatcherName, peerWatchers } from '../peers/watchers.ts'
import { median, percentile, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { pathsOf, plant } from './trees.ts'
import { ours, theirs, type Watching } from './watchers.ts'
import { byAProcess, byTheHost } from './writer.ts'

const bar = { p50: 3, p99: 15 }
const trees = [
  { title: 'a tree of 1,000 files', files: 1_000, folders: 20 },
  { title: '50,000 files in 1,000 folders', files: 50_000, folders: 1_000 },
]
const ourPauseMs = 12
/** Each watcher has its turn that often: the machine's moods are shared. */
const turns = 2
const ourWrites = 125
const peerWrites: Readonly<Record<PeerWatcherName, number>> = { parcel: 15, chokidar: 60, tanstack: 6 }
const peers: readonly PeerWatcherName[] = ['parcel', 'chokidar', 'tanstack']
const writers = ['by the host', 'by a process'] as const

type Who = PeerWatcherName | 'ours'
type Writing = (typeof writers)[number]
type Figures = Record<Writing | 'starts', number[]>
const all: readonly Who[] = ['ours', ...peers]

/** From the return of a write to its event in a reader's hands. */
export async function latency(): Promise<Row[]> {
  const rows: Row[] = []
  for (const tree of trees) rows.push(...(await onTree(tree)))
  return rows
}

async function onTree({ title, files, folders }: (typeof trees)[number]): Promise<Row[]> {
  return inScratch(async (folder) => {
    const root = join(folder, 'workspace')
    const paths = pathsOf(files, folders)
    mkdirSync(root)
    plant(root, paths)
    const figures = new Map<Who, Figures>(
      all.map((who) => [who, { starts: [], 'by the host': [], 'by a process': [] }]),
    )
    // One after the other: two watchers of one tree would be in each other's way.
    for (let turn = 0; turn < turns; turn += 1) {
      for (const [who, mine] of figures) {
        const began = performance.now()
        const watching =
          who === 'ours'
            ? await ours(root, join(folder, `ours-${turn}`))
            : await theirs(peerWatchers[who], root)
        mine.starts.push(performance.now() - began)
        const pauseMs = who === 'ours' ? ourPauseMs : peerWatchers[who].pauseMs
        const writes = who === 'ours' ? ourWrites : peerWrites[who]
        for (const writer of writers)
          mine[writer].push(...(await measured(watching, writer, root, some(paths, writes), pauseMs)))
        await watching.stop()
      }
    }
    const mine = figures.get('ours')!
    return writers.flatMap((writer) => [
      ourRow(`written ${writer}, seen by files.watch(): ${title}`, mine[writer], mine.starts),
      ...peers.map((who) => peerRow(who, writer, mine[writer], figures.get(who)!)),
    ])
  })
}

/** Milliseconds from each write to its event; of what was not told, infinitely many. */
async function measured(
  watching: Watching,
  writer: Writing,
  root: string,
  paths: readonly string[],
  pauseMs: number,
): Promise<number[]> {
  const before = watching.heard.length
  const write = writer === 'by the host' ? byTheHost : byAProcess(watching.sandbox)
  const times = await write(root, paths, pauseMs)
  const wanted = new Set(paths)
  const told = new Map<string, number>()
  let seen = before
  await watching.settled(() => {
    for (const { path, at } of watching.heard.slice(seen))
      if (wanted.has(path) && !told.has(path)) told.set(path, at)
    seen = watching.heard.length
    return told.size === wanted.size
  })
  // Told before its write had returned: at once.
  return paths.map((path, index) => Math.max(0, (told.get(path) ?? Number.POSITIVE_INFINITY) - times[index]!))
}

/** Different ones each time, all over the tree. */
function some(paths: readonly string[], count: number): string[] {
  const chosen = new Set<string>()
  while (chosen.size < count) chosen.add(paths[Math.floor(Math.random() * paths.length)]!)
  return [...chosen]
}

function ourRow(what: string, took: readonly number[], starts: readonly number[]): Row {
  const [p50, p99] = [median(took), percentile(took, 0.99)]
  return {
    what,
    measured: `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, ${untold(took)} untold of ${took.length}`,
    against: `began in ${median(starts).toFixed(0)} ms with the sandbox; journal in SQLite, contents kept`,
    bar: `≤ ${bar.p50} / ≤ ${bar.p99} ms, 0 untold`,
    holds: p50 <= bar.p50 && p99 <= bar.p99 && untold(took) === 0,
  }
}

function peerRow(who: PeerWatcherName, writer: Writing, mine: readonly number[], figures: Figures): Row {
  const { name, without } = peerWatchers[who]
  const { [writer]: took, starts } = figures
  const [p50, p99] = [median(took), percentile(took, 0.99)]
  return {
    what: `the same, ${writer}`,
    measured: `${(median(mine) / p50).toFixed(3)} × of p50`,
    against: `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, ${untold(took)} untold of ${took.length}, began in ${median(starts).toFixed(0)} ms: ${name} (${without})`,
    bar: '',
    holds: null,
  }
}

function untold(took: readonly number[]): number {
  return took.filter((ms) => ms === Number.POSITIVE_INFINITY).length
}
