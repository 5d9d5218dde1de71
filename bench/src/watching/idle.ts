import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { abortable } from '../abortable.ts'
import { measurement } from '../measurement.ts'
import { type PeerWatcherName, peerWatchers } from '../peers/watchers.ts'
import { mebibytes, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import type { IdleCost } from './idle-host.ts'
import { createFiles, pathsOf } from './trees.ts'
import { ours, theirs } from './watchers.ts'

const bar = { cpuShare: 0.005, rssBytes: 60 * 1024 * 1024 }
const peers: readonly PeerWatcherName[] = ['parcel', 'chokidar', 'tanstack']

interface Tree {
  readonly files: number
  readonly folders: number
}

interface Sizes {
  readonly idleMs: number
  readonly watched: Tree
  readonly untouched: Tree
}

/** The cost of watching an idle tree, and a check that no events are reported. */
export const idle = measurement<Sizes>({
  name: 'idle',
  what: 'watching 50,000 files for 20 s where nothing happens: processor, memory, and that no event is reported',
  against: 'watch: false; @parcel/watcher; chokidar; TanStack watchWorkspace',
  bars: [`≤ ${percent(bar.cpuShare)}`, `≤ ${mebibytes(bar.rssBytes)}`, '0 events'],
  needs: ['peers'],
  sizes: {
    full: {
      idleMs: 20_000,
      watched: { files: 50_000, folders: 1_000 },
      untouched: { files: 20_000, folders: 400 },
    },
    tiny: { idleMs: 1_000, watched: { files: 100, folders: 5 }, untouched: { files: 100, folders: 5 } },
  },
  run,
})

async function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  // Both run at once and share the idle time.
  const [costRows, untouchedRows] = await Promise.all([cost(sizes, signal), untouched(sizes, signal)])
  return [...costRows, ...untouchedRows]
}

async function cost({ idleMs, watched: { files, folders } }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return inScratch(async (folder) => {
    const root = join(folder, 'workspace')
    mkdirSync(root)
    createFiles(root, pathsOf(files, folders))
    // Concurrent: CPU time is counted per process.
    const hosts = ['on', 'off', ...peers].map(async (who) => {
      const found = await costOf({ who, root, folder: join(folder, who), idleMs }, signal)
      return [who, found] as const
    })
    const costs = new Map<string, IdleCost>(await Promise.all(hosts))
    const [on, off] = [costs.get('on')!, costs.get('off')!]
    const more = on.rssBytes - off.rssBytes
    return [
      {
        what: `watching ${files.toLocaleString('en')} files for ${idleMs / 1_000} s where nothing happens: processor`,
        measured: `${percent(on.cpuShare)} of a core`,
        against: `${percent(off.cpuShare)} of a core the same sandbox with watch: false`,
        bar: `≤ ${percent(bar.cpuShare)}`,
        holds: on.cpuShare <= bar.cpuShare,
      },
      {
        what: 'the same: memory',
        measured: `+${mebibytes(more)}`,
        against: `${mebibytes(on.rssBytes)} beside ${mebibytes(off.rssBytes)} with watch: false, each a new process after gc()`,
        bar: `≤ ${mebibytes(bar.rssBytes)}`,
        holds: more <= bar.rssBytes,
      },
      ...peers.map((who) => {
        const { cpuShare, rssBytes, rssBefore } = costs.get(who)!
        return {
          what: 'the same',
          measured: '',
          against: `${percent(cpuShare)} of a core, +${mebibytes(rssBytes - rssBefore)} since before: ${peerWatchers[who].name} (${peerWatchers[who].without})`,
          bar: '',
          holds: null,
        }
      }),
    ]
  })
}

interface IdleHost {
  readonly who: string
  readonly root: string
  readonly folder: string
  readonly idleMs: number
}

async function costOf({ who, root, folder, idleMs }: IdleHost, signal: AbortSignal): Promise<IdleCost> {
  mkdirSync(folder)
  const script = fileURLToPath(new URL('./idle-host.ts', import.meta.url))
  const host = fork(script, [who, root, folder, String(idleMs)], {
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const gone = once(host, 'exit')
  const failed = gone.then(([code]) => {
    throw new Error(`The process that watches (${who}) exited with ${code}.`)
  })
  try {
    await abortable(signal, Promise.race([once(host, 'message'), failed]))
    host.send('go')
    const [found] = await abortable(signal, Promise.race([once(host, 'message'), failed]))
    return found as IdleCost
  } finally {
    failed.catch(() => undefined)
    if (signal.aborted) host.kill()
    await gone
  }
}

async function untouched(
  { idleMs, untouched: { files, folders } }: Sizes,
  signal: AbortSignal,
): Promise<Row[]> {
  return inScratch(async (folder) => {
    const root = join(folder, 'workspace')
    mkdirSync(root)
    createFiles(
      root,
      pathsOf(files, folders, (index) => `日本語-àéîõü-${index}.txt`),
    )
    const mine = await ours(root, join(folder, 'ours'))
    const others = await Promise.all(
      peers.map(async (who) => ({ ...peerWatchers[who], watching: await theirs(peerWatchers[who], root) })),
    )
    await sleep(idleMs, undefined, { signal })
    await mine.untilQuiet()
    const rows: Row[] = [
      {
        what: `${files.toLocaleString('en')} files with Japanese and accented names, untouched for ${idleMs / 1_000} s`,
        measured: `${mine.changes.length} events`,
        against: '',
        bar: '0 events',
        holds: mine.changes.length === 0,
      },
      ...others.map(({ name, watching }) => ({
        what: 'the same',
        measured: '',
        against: `${watching.changes.length} events ${name}`,
        bar: '',
        holds: null,
      })),
    ]
    await Promise.all([mine, ...others.map(({ watching }) => watching)].map((one) => one.stop()))
    return rows
  })
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
