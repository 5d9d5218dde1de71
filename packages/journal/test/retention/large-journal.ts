import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { EventInput } from '@vitrine/protocol'
import { expect } from 'vitest'
import type { Journal, OpenStoreOptions, Store } from '../../src/index.ts'
import { events, everything, finished, note, output, started } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'

export interface LargeJournal {
  readonly path: string
  readonly store: Store
  readonly journal: Journal
}

/** Of ten events, six are output, two are notes and two belong to an operation. */
export function mixed(index: number): EventInput {
  if (index % 10 === 3) return started(`op_${index}`)
  if (index % 10 === 7) return finished(`op_${index - 4}`)
  return index % 5 === 0 ? note(`note ${index}`) : output(index, `output ${index} `.repeat(4))
}

export async function largeJournal(
  count: number,
  event: (index: number) => EventInput = mixed,
  options: OpenStoreOptions = { retention: {} },
): Promise<LargeJournal> {
  const path = join(folder(), 'journal.db')
  const store = await opened(path, options)
  const journal = await store.journal('sbx_a')
  for (let from = 0; from < count; from += 1_000)
    await journal.append(
      Array.from({ length: Math.min(1_000, count - from) }, (_, index) => event(from + index)),
    )
  return { path, store, journal }
}

/** The number of events of each family, without `journal.trimmed`. */
export async function census(journal: Journal): Promise<{ output: number; notes: number; audit: number }> {
  const types = events(await everything(journal)).map(({ type }) => type)
  const count = (prefix: string) => types.filter((type) => type.startsWith(prefix)).length
  return { output: count('process.output'), notes: count('log.'), audit: count('operation.') }
}

export interface Books {
  readonly events: number
  readonly bytes: number
  readonly holes: readonly { readonly from: number; readonly to: number }[]
  readonly rows: number
  readonly rowBytes: number
}

/** Counts the journal's rows directly in the store's tables. */
export function books(path: string): Books {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const head = db.prepare("SELECT id, events, bytes FROM journals WHERE name = 'sbx_a'").get()!
    const bodies = db.prepare('SELECT body FROM events WHERE journal = ?').all(head.id!)
    const holes = db
      .prepare('SELECT from_seq, to_seq FROM holes WHERE journal = ? ORDER BY from_seq')
      .all(head.id!)
    return {
      events: Number(head.events),
      bytes: Number(head.bytes),
      rows: bodies.length,
      rowBytes: bodies.reduce((sum, { body }) => sum + String(body).length, 0),
      holes: holes.map((hole) => ({ from: Number(hole.from_seq), to: Number(hole.to_seq) })),
    }
  } finally {
    db.close()
  }
}

/** Checks that the journal is complete apart from its holes, each hole is claimed once, and the counts match. */
export async function expectInOrder({ path, journal }: LargeJournal): Promise<Books> {
  const verification = await journal.verify({ head: journal.head })
  expect(verification).toMatchObject({ ok: true })
  const found = books(path)
  if (!verification.ok) return found
  expect(verification.events).toBe(found.rows)
  expect(found.events).toBe(found.rows)
  expect(found.bytes).toBe(found.rowBytes)
  const missing = found.holes.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  expect(verification.missing).toBe(missing)
  expect(found.rows + missing).toBe(journal.head.seq)
  for (const [index, hole] of found.holes.entries()) {
    // Adjacent holes must be merged.
    expect(hole.from).toBeGreaterThan((found.holes[index - 1]?.to ?? -1) + 1)
  }
  return found
}
