import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventInput, JournalEvent, JournalItem, JournalReader } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import {
  memoryStore,
  type OpenStoreOptions,
  openStore,
  type Store,
  type StoreDriver,
  sqliteStore,
} from '../../src/index.ts'

/** An empty directory that ends with the test. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'vitrine-journal-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

export async function sqliteFile(): Promise<StoreDriver> {
  return sqliteStore({ path: join(await folder(), 'journal.db') })
}

/** A store that is closed with the test. */
export async function open(driver: StoreDriver, options?: OpenStoreOptions): Promise<Store> {
  const store = await openStore(driver, options)
  onTestFinished(() => store.close())
  return store
}

export const openMemory = (options?: OpenStoreOptions) => open(memoryStore(), options)

export const openSqlite = async (options?: OpenStoreOptions) => open(await sqliteFile(), options)

/** For tests that every kind of store must pass. */
export const stores: readonly [string, (options?: OpenStoreOptions) => Promise<Store>][] = [
  ['memory', openMemory],
  ['sqlite', openSqlite],
]

export function log(message: string, fields: Partial<EventInput> = {}): EventInput {
  return { type: 'log.message', data: { level: 'info', message }, ...fields }
}

/** The message of a `log.message`, for telling events apart. */
export function messageOf(item: JournalItem): unknown {
  return 'seq' in item ? item.data.message : undefined
}

/** Every event of a journal that is short and has no holes. */
export async function eventsOf(journal: JournalReader): Promise<JournalEvent[]> {
  const { events, end } = await journal.read({ limit: 10_000 })
  if (!end) throw new Error('Expected a short journal.')
  return events.map((item) => {
    if (!('seq' in item)) throw new Error('Expected no gap.')
    return item
  })
}
