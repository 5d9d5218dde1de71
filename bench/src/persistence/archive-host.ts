// Puts a workspace into a file and takes it out again, when asked, and says what that took.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore, sqliteStore } from '@vitrine/journal'
import { createSandbox, local } from '@vitrine/sandbox'
import { openPeer } from '../peers/peers.ts'
import { fromFile, fromReadStream, toFile } from './file-streams.ts'

export type ArchiveRequest = 'persist' | 'hydrate' | 'hydratePlainly'

export interface ArchiveFigures {
  readonly ms: number
  /** Over what it was before. */
  readonly rssBytes: number
}

interface Way {
  /** So that there is nothing where something is to be hydrated. */
  empty(): void
  persist(): Promise<unknown>
  hydrate(): Promise<unknown>
  /** From the stream that most would take. */
  hydratePlainly(): Promise<unknown>
  /** Whatever goes on by itself afterwards. */
  settled(): Promise<unknown>
  close(): Promise<void>
}

const [who = '', root = '', archive = '', folder = ''] = process.argv.slice(2)
const sampleMs = 20
const way = who === 'openai' ? await theirs() : await ours()
process.send?.('ready')
process.on('message', (request: ArchiveRequest | 'end') => void answer(request))

async function answer(request: ArchiveRequest | 'end'): Promise<void> {
  if (request === 'end') {
    await way.close()
    process.disconnect()
    return
  }
  if (request !== 'persist') way.empty()
  await way.settled()
  globalThis.gc?.()
  await sleep(100)
  const before = process.memoryUsage().rss
  let most = before
  const sample = () => {
    most = Math.max(most, process.memoryUsage.rss())
  }
  const sampling = setInterval(sample, sampleMs)
  const began = performance.now()
  await way[request]()
  const ms = performance.now() - began
  sample()
  clearInterval(sampling)
  await way.settled()
  process.send?.({ ms, rssBytes: most - before } satisfies ArchiveFigures)
}

function emptyFolder(path: string): void {
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true })
}

async function ours(): Promise<Way> {
  mkdirSync(root, { recursive: true })
  const store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
  const provider = local({ root, data: join(folder, 'data'), isolation: 'none' })
  const sandbox = await createSandbox({ store, provider })
  return {
    empty: () => emptyFolder(root),
    persist: async () => toFile(await sandbox.persist(), archive),
    hydrate: async () => sandbox.hydrate(await fromFile(archive)),
    hydratePlainly: () => sandbox.hydrate(fromReadStream(archive)),
    settled: () => sandbox.files.flush(),
    async close() {
      await sandbox.close()
      await store.close()
    },
  }
}

/** Its workspace is one that it makes itself; what is to be persisted is copied there. */
async function theirs(): Promise<Way> {
  const peer = await openPeer('openai', folder)
  if ('missing' in peer) throw new Error(peer.missing)
  const { archive: archiving } = peer
  if (archiving === undefined) throw new Error(`${peer.name} has no archives.`)
  const hydrate = () => archiving.hydrate(readFileSync(archive))
  cpSync(root, peer.root, { recursive: true, verbatimSymlinks: true })
  return {
    empty: () => emptyFolder(peer.root),
    async persist() {
      writeFileSync(archive, await archiving.persist())
    },
    hydrate,
    hydratePlainly: hydrate,
    settled: async () => undefined,
    close: () => peer.close(),
  }
}
