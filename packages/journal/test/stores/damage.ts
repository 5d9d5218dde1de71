import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isVitrineError, type JournalEvent } from '@vitrine/protocol'
import { expect } from 'vitest'
import { openStore, type Store, sqliteStore } from '../../src/index.ts'
import { events, everything, messages, note } from '../fixtures/events.ts'

/** A store to copy, and its contents before any damage. */
export interface Original {
  readonly path: string
  readonly events: readonly JournalEvent[]
  /** How many of them are in the main file. */
  readonly settled: number
  remove(): void
}

const sides = ['', '-wal', '-shm', '.owner', '.reserve']

/** A store that two successive owners wrote to, both killed. */
export async function killedStore(): Promise<Original> {
  const path = join(mkdtempSync(join(tmpdir(), 'vitrine-store-')), 'journal.db')
  die(path, 1, 25)
  die(path, 26, 60)
  // The second owner checkpointed the WAL of the first into the main file.
  return remembered(path, 25)
}

/** The same store after a clean close: everything is in the main file. */
export async function closedStore(): Promise<Original> {
  const original = await killedStore()
  const store = await openStore(sqliteStore({ path: original.path }))
  await store.close()
  return { ...original, settled: original.events.length }
}

/** A copy in its own directory, to be damaged. */
export function copyOf(original: Original): { path: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'vitrine-damage-'))
  const path = join(directory, 'journal.db')
  for (const side of sides.filter((name) => existsSync(original.path + name)))
    copyFileSync(original.path + side, path + side)
  return { path, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

export type Honesty = 'refused' | 'found out' | 'prefix'

/**
 * Checks that a damaged store is rejected with the file's name, or fails verification, or continues from an earlier
 * state. It must not start empty or return data that was never written.
 */
export async function expectHonest(path: string, original: Original): Promise<Honesty> {
  let store: Store | undefined
  try {
    store = await openStore(sqliteStore({ path }))
    const journal = await store.journal('sbx_a')
    const verification = await journal.verify()
    if (!verification.ok) {
      expect(verification.seq).toBeGreaterThan(0)
      return 'found out'
    }
    const found = events(await everything(journal))
    expect(found).toEqual(original.events.slice(0, found.length))
    expect(found.length).toBeGreaterThanOrEqual(original.settled)
    await journal.append([note('goes on')])
    expect((await messages(journal)).at(-1)).toBe('goes on')
    expect(await journal.verify()).toMatchObject({ ok: true, events: found.length + 1 })
    return 'prefix'
  } catch (error) {
    if (!isVitrineError(error)) throw error
    expect(error.code).toMatch(/^store_/)
    expect(error.message).toContain(path)
    return store ? 'found out' : 'refused'
  } finally {
    await store?.close()
  }
}

function die(path: string, from: number, to: number): void {
  const fixture = fileURLToPath(new URL('../fixtures/die-writing.ts', import.meta.url))
  const run = spawnSync(process.execPath, ['--conditions=source', fixture, path, `${from}`, `${to}`])
  if (run.signal !== 'SIGKILL') throw new Error(`The fixture was not killed: ${run.stderr}`)
}

async function remembered(path: string, settled: number): Promise<Original> {
  const store = await openStore(sqliteStore({ path }), { readOnly: true })
  try {
    const all = events(await everything(await store.journal('sbx_a')))
    return { path, settled, events: all, remove: () => rmSync(dirname(path), { recursive: true }) }
  } finally {
    await store.close()
  }
}
