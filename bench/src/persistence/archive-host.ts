// Persists a workspace to a file and hydrates it on request, and reports time and memory.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore, sqliteStore } from '@vitrine/journal'
import { createLocalSandbox, local } from '@vitrine/sandbox'
import { openPeer } from '../peers/peers.ts'
import { fromFile, fromReadStream, toFile, toFilePlainly } from './file-streams.ts'

export type ArchiveRequest = 'persist' | 'persistPlainly' | 'hydrate' | 'hydratePlainly'

export interface ArchiveFigures {
  readonly ms: number
  /** The peak growth of the resident memory. */
  readonly rssBytes: number
}

/** The request, and the existing workspace directory to use. */
export interface ArchiveJob {
  readonly request: ArchiveRequest
  readonly root: string
}

interface Archiver {
  persist(): Promise<unknown>
  /** Persists with the plain file API that most users would call. */
  persistPlainly(): Promise<unknown>
  hydrate(): Promise<unknown>
  /** Hydrates from the plain stream that most users would open. */
  hydratePlainly(): Promise<unknown>
  /** Waits for background work; the workspace stays. */
  close(): Promise<void>
}

const [who = '', archive = '', folder = ''] = process.argv.slice(2)
const sampleMs = 20
const store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
process.send?.('ready')
process.on('message', (job: ArchiveJob | 'end') => void handle(job))

async function handle(job: ArchiveJob | 'end'): Promise<void> {
  if (job === 'end') {
    await store.close()
    process.disconnect()
    return
  }
  const { request, root } = job
  const archiver = who === 'openai' ? await theirs(root) : await ours(root)
  globalThis.gc?.()
  await sleep(100)
  const before = process.memoryUsage().rss
  let most = before
  const sample = () => {
    most = Math.max(most, process.memoryUsage.rss())
  }
  const sampling = setInterval(sample, sampleMs)
  const began = performance.now()
  await archiver[request]()
  const ms = performance.now() - began
  sample()
  clearInterval(sampling)
  await archiver.close()
  process.send?.({ ms, rssBytes: most - before } satisfies ArchiveFigures)
}

async function ours(root: string): Promise<Archiver> {
  const provider = local({ root, data: join(folder, 'data'), isolation: 'none' })
  const sandbox = await createLocalSandbox({ store, provider })
  return {
    persist: async () => toFile(await sandbox.persist(), archive),
    persistPlainly: async () => toFilePlainly(await sandbox.persist(), archive),
    hydrate: async () => sandbox.hydrate(await fromFile(archive)),
    hydratePlainly: () => sandbox.hydrate(fromReadStream(archive)),
    async close() {
      await sandbox.files.flush()
      await sandbox.close()
    },
  }
}

/** The peer creates its own workspace, so the files are copied into it. */
async function theirs(root: string): Promise<Archiver> {
  const peer = await openPeer('openai', folder)
  if ('missing' in peer) throw new Error(peer.missing)
  const { archive: archiving } = peer
  if (archiving === undefined) throw new Error(`${peer.name} has no archives.`)
  const hydrate = () => archiving.hydrate(readFileSync(archive))
  const persist = async () => writeFileSync(archive, await archiving.persist())
  cpSync(root, peer.root, { recursive: true, verbatimSymlinks: true })
  return {
    persist,
    persistPlainly: persist,
    hydrate,
    hydratePlainly: hydrate,
    close: () => peer.close(),
  }
}
