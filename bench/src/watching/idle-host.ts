// Watches an idle tree with the given watcher, and reports its CPU time and memory.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore, sqliteStore } from '@vitrine/journal'
import { createLocalSandbox, local } from '@vitrine/sandbox'
import { type PeerWatcherName, peerWatchers } from '../peers/watchers.ts'

export interface IdleCost {
  readonly cpuShare: number
  readonly rssBytes: number
  readonly rssBefore: number
}

const [who = '', root = '', folder = '', milliseconds = ''] = process.argv.slice(2)
await start()
process.send?.('ready')
await new Promise((resolve) => process.once('message', resolve))
const rssBefore = await settledRss()
const stop = await watch()
const rssBytes = await settledRss()
const before = cpuMs()
const began = performance.now()
await sleep(Number(milliseconds))
const cpuShare = (cpuMs() - before) / (performance.now() - began)
process.send?.({ cpuShare, rssBytes, rssBefore } satisfies IdleCost)
await stop()
process.disconnect()

/** Loads the watcher's modules before the measurement. */
async function start(): Promise<void> {
  if (who in peerWatchers) {
    const loaded = await peerWatchers[who as PeerWatcherName].start(folder, () => undefined)
    await loaded()
  }
}

async function watch(): Promise<() => Promise<void>> {
  if (who in peerWatchers) return peerWatchers[who as PeerWatcherName].start(root, () => undefined)
  const store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
  const data = join(folder, 'data')
  const provider = local({ root, data, ...(who === 'off' && { watch: false }) })
  const sandbox = await createLocalSandbox({ store, provider })
  return async () => {
    await sandbox.close()
    await store.close()
  }
}

/** The resident memory after garbage collections. */
async function settledRss(): Promise<number> {
  for (let turn = 0; turn < 4; turn += 1) {
    globalThis.gc?.()
    await sleep(250)
  }
  return process.memoryUsage().rss
}

/** The CPU time of this process and of its children that have exited. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]!.split(' ')
  const ticks = Number(fields[13]) + Number(fields[14])
  return (user + system) / 1_000 + ticks * 10
}
