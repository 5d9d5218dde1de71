import { type Journal, openStore } from '@vitrine/journal'
import type { JournalOrigin } from '@vitrine/protocol'
import {
  allJournalsConformance,
  readerConformance,
  type StoreUnderTest,
  type WriterAndReader,
} from '../src/index.ts'
import { inMemory, inSqlite } from './stores.ts'

const id = 'sbx_read'

readerConformance('memory, the journal itself', () => sameProcess(inMemory))
readerConformance('SQLite, the journal itself', () => sameProcess(inSqlite))
readerConformance('memory, read-only', () => readOnly(inMemory))
readerConformance('SQLite, read-only by a second connection', () => readOnly(inSqlite))

for (const [name, make] of [
  ['memory', inMemory],
  ['SQLite', inSqlite],
] as const)
  allJournalsConformance(`the ${name} store itself`, async () => {
    const under = await make()
    const store = await openStore(under.driver())
    const dispose = async () => {
      await store.close()
      await under.dispose()
    }
    return { store, reader: store, dispose }
  })

/** Reader and writer share a store and its cache. */
async function sameProcess(make: () => Promise<StoreUnderTest>): Promise<WriterAndReader> {
  const under = await make()
  let store = await openStore(under.driver())
  let writer = await store.journal(id)
  return {
    get writer() {
      return writer
    },
    reader: async () => writer,
    trim: (limits) => writer.trim(limits),
    async restart() {
      await store.close()
      store = await openStore(under.driver())
      writer = await store.journal(id)
      return writer
    },
    async dispose() {
      await store.close()
      await under.dispose()
    },
  }
}

/** The reader has its own connection, like a reader in another process. */
async function readOnly(make: () => Promise<StoreUnderTest>): Promise<WriterAndReader> {
  const under = await make()
  let owner = await openStore(under.driver())
  let writer: Journal = await owner.journal(id)
  let watcher = await openStore(under.driver(), { readOnly: true })
  return {
    get writer() {
      return writer
    },
    reader: async (): Promise<JournalOrigin> => watcher.journal(id),
    trim: (limits) => writer.trim(limits),
    async restart() {
      await watcher.close()
      await owner.close()
      owner = await openStore(under.driver())
      writer = await owner.journal(id)
      watcher = await openStore(under.driver(), { readOnly: true })
      return writer
    },
    async dispose() {
      await watcher.close()
      await owner.close()
      await under.dispose()
    },
  }
}
