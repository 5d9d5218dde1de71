import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type PeerWatcherName, peerWatchers } from '../peers/watchers.ts'
import { mebibytes, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import type { IdleCost } from './idle-host.ts'
import { pathsOf, plant } from './trees.ts'
import { ours, theirs } from './watchers.ts'

const idleMs = 20_000
const bar = { cpuShare: 0.005, rssBytes: 60 * 1024 * 1024 }
const peers: readonly PeerWatcherName[] = ['parcel', 'chokidar', 'tanstack']

/** What it costs to watch where nothing happens, and that nothing is told then. */
export async function idle(): Promise<Row[]> {
  // Both at once: twenty seconds of nothing are enough.
  const [paid, told] = await Promise.all([cost(), untouched()])
  return [...paid, ...told]
}

async function cost(): Promise<Row[]> {
  return inScratch(async (folder) => {
    const root = join(folder, 'workspace')
    mkdirSync(root)
    plant(root, pathsOf(50_000, 1_000))
    // At the same time: processor time is counted for each by itself.
    const hosts = ['on', 'off', ...peers].map((who) => ({ who, cost: costOf(who, root, join(folder, who)) }))
    const costs = new Map<string, IdleCost>()
    for (const { who, cost: found } of hosts) costs.set(who, await found)
    const [on, off] = [costs.get('on')!, costs.get('off')!]
    const more = on.rssBytes - off.rssBytes
    return [
      {
        what: `watching 50,000 files for ${idleMs / 1_000} s where nothing happens: processor`,
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

async function costOf(who: string, root: string, folder: string): Promise<IdleCost> {
  mkdirSync(folder)
  const script = fileURLToPath(new URL('./idle-host.ts', import.meta.url))
  const host = fork(script, [who, root, folder, String(idleMs)], {
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const gone = once(host, 'exit')
  const failed = gone.then(([code]) => {
    throw new Error(`The process that watches (${who}) ended with ${code}.`)
  })
  try {
    await Promise.race([once(host, 'message'), failed])
    host.send('go')
    const [found] = await Promise.race([once(host, 'message'), failed])
    return found as IdleCost
  } finally {
    failed.catch(() => undefined)
    await gone
  }
}

async function untouched(): Promise<Row[]> {
  return inScratch(async (folder) => {
    const root = join(folder, 'workspace')
    mkdirSync(root)
    plant(
      root,
      pathsOf(20_000, 400, (index) => `日本語-àéîõü-${index}.txt`),
    )
    const mine = await ours(root, join(folder, 'ours'))
    const others = await Promise.all(
      peers.map(async (who) => ({ ...peerWatchers[who], watching: await theirs(peerWatchers[who], root) })),
    )
    await sleep(idleMs)
    await mine.settled()
    const rows: Row[] = [
      {
        what: `20,000 files with Japanese and accented names that nobody touches for ${idleMs / 1_000} s`,
        measured: `${mine.heard.length} events`,
        against: '',
        bar: '0 events',
        holds: mine.heard.length === 0,
      },
      ...others.map(({ name, watching }) => ({
        what: 'the same',
        measured: '',
        against: `${watching.heard.length} events ${name}`,
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
