import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { abortable } from '../abortable.ts'
import { measurement } from '../measurement.ts'
import { type PeerWatcherName, peerWatchers } from '../peers/watchers.ts'
import type { Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { now } from './clock.ts'
import { type Counts, count, scan } from './fold.ts'
import { createFiles, pathsOf } from './trees.ts'
import { ours, theirs } from './watchers.ts'

interface Storm {
  readonly what: string
  /** The storm changes only paths below these, which no other file shares. */
  readonly touches: readonly string[]
  prepare?(root: string): void
  run(root: string): void
}

const peers: readonly PeerWatcherName[] = ['parcel', 'chokidar']
const bar = 'lasting changes missed 0, differs from a rescan 0, phantom 0'

interface Sizes {
  readonly nested: { readonly files: number; readonly folders: number }
  /** Files in the renamed folder, in the deleted one, and created and deleted at once. */
  readonly some: number
  /** Folders of 1,000 files that are created while the event loop is blocked. */
  readonly blockedFolders: number
}

/** Creates files while the watching process waits synchronously and receives no events. */
const makeFiles = `
const { mkdirSync, writeFileSync } = require('node:fs')
for (let folder = 0; folder < Number(process.argv[1]); folder += 1) {
  mkdirSync('blocked/' + folder, { recursive: true })
  for (let file = 0; file < 1000; file += 1) writeFileSync('blocked/' + folder + '/' + file, 'x')
}
`

const kindsOf = ({ nested, some, blockedFolders }: Sizes): readonly Storm[] => [
  {
    what: `${nested.files.toLocaleString('en')} files in new nested folders`,
    touches: ['nested'],
    run: (root) => createFiles(join(root, 'nested'), pathsOf(nested.files, nested.folders)),
  },
  {
    what: `a folder of ${some} renamed`,
    touches: ['before', 'after'],
    prepare: (root) =>
      createFiles(
        root,
        pathsOf(some, some / 10).map((path) => join('before', path)),
      ),
    run: (root) => renameSync(join(root, 'before'), join(root, 'after')),
  },
  {
    what: `a folder of ${some} deleted`,
    touches: ['doomed'],
    prepare: (root) =>
      createFiles(
        root,
        pathsOf(some, some / 10).map((path) => join('doomed', path)),
      ),
    run: (root) => rmSync(join(root, 'doomed'), { recursive: true }),
  },
  {
    what: `${some} files created and deleted at once`,
    touches: ['quick'],
    prepare: (root) => mkdirSync(join(root, 'quick')),
    run(root) {
      for (let file = 0; file < some; file += 1) {
        const path = join(root, 'quick', String(file))
        writeFileSync(path, 'gone soon')
        unlinkSync(path)
      }
    },
  },
  {
    what: `${(blockedFolders * 1_000).toLocaleString('en')} files created while the event loop was blocked`,
    touches: ['blocked'],
    run: (root) =>
      void execFileSync(process.execPath, ['-e', makeFiles, String(blockedFolders)], { cwd: root }),
  },
]

/** The state after applying all events, compared with the disk. */
export const storms = measurement<Sizes>({
  name: 'storms',
  what: 'thousands of changes at once: the state after all events, compared with the disk',
  against: '@parcel/watcher; chokidar',
  bars: [bar],
  needs: ['peers'],
  sizes: {
    full: { nested: { files: 5_000, folders: 500 }, some: 200, blockedFolders: 30 },
    tiny: { nested: { files: 100, folders: 10 }, some: 20, blockedFolders: 1 },
  },
  run,
})

async function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  const rows: Row[] = []
  for (const storm of kindsOf(sizes)) {
    const { events, missed, differs, phantom, lateMs } = await countsOf(storm, 'ours', signal)
    rows.push({
      what: storm.what,
      measured: `missed ${missed}, differs ${differs}, phantom ${phantom}; ${events} events, the last ${lateMs.toFixed(0)} ms after the last change`,
      against: 'journal in SQLite, contents stored; paths, kinds and sizes compared',
      bar,
      holds: missed === 0 && differs === 0 && phantom === 0,
    })
    for (const who of peers) {
      const peer = await countsOf(storm, who, signal)
      rows.push({
        what: 'the same',
        measured: '',
        against: `missed ${peer.missed}, differs ${peer.differs}, phantom ${peer.phantom}; ${peer.events} events, the last after ${peer.lateMs.toFixed(0)} ms: ${peerWatchers[who].name} (${peerWatchers[who].without}; paths compared)`,
        bar: '',
        holds: null,
      })
    }
  }
  return rows
}

async function countsOf(
  storm: Storm,
  who: PeerWatcherName | 'ours',
  signal: AbortSignal,
): Promise<Counts & { lateMs: number }> {
  signal.throwIfAborted()
  return inScratch(async (folder) => {
    const root = join(folder, 'workspace')
    mkdirSync(root)
    createFiles(root, pathsOf(300, 10))
    storm.prepare?.(root)
    const watching =
      who === 'ours' ? await ours(root, join(folder, 'ours')) : await theirs(peerWatchers[who], root)
    try {
      const before = scan(root)
      storm.run(root)
      const over = now()
      await abortable(signal, watching.untilQuiet())
      const lateMs = Math.max(0, (watching.changes.at(-1)?.at ?? over) - over)
      const counts = count(before, scan(root), watching.changes, (path) =>
        storm.touches.some((touched) => path === touched || path.startsWith(`${touched}/`)),
      )
      return { ...counts, lateMs }
    } finally {
      await watching.stop()
    }
  })
}
