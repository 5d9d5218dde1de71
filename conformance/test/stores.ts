import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, sqliteStore } from '@vitrine/journal'
import type { StoreUnderTest } from '../src/index.ts'

export async function inMemory(): Promise<StoreUnderTest> {
  const driver = memoryStore()
  return { driver: () => driver, dispose: async () => {} }
}

export async function inSqlite(): Promise<StoreUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'vitrine-conformance-'))
  const path = join(folder, 'journal.db')
  return {
    driver: () => sqliteStore({ path }),
    dispose: () => rm(folder, { recursive: true, force: true }),
  }
}
