import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { note, output } from '../fixtures/events.ts'
import { opened } from '../fixtures/opened.ts'
import { expectInOrder, largeJournal } from './large-journal.ts'

describe('while a journal is trimmed', () => {
  test('appends and reads are not blocked', async () => {
    const large = await largeJournal(20_000)
    const { journal } = large
    let over = false
    const trimming = journal.trim({ events: 1_000 }).then((removed) => {
      over = true
      return removed
    })
    let appended = 0
    let read = 0
    while (!over) {
      await journal.append([note(`meanwhile ${appended}`)])
      if (!over) appended += 1
      await journal.read({ limit: 10, order: 'desc' })
      if (!over) read += 1
    }
    expect((await trimming).events).toBeGreaterThan(0)
    expect(appended).toBeGreaterThan(1)
    expect(read).toBeGreaterThan(1)
    await expectInOrder(large)
  })

  test('each slice is one transaction with its own journal.trimmed event', async () => {
    const large = await largeJournal(20_000, (index) => output(index, `${index}`))
    let over = false
    const trimming = large.journal.trim({ events: 1_000 }).finally(() => {
      over = true
    })
    const seen = new Set<number>()
    while (!over) {
      const { missing, reported } = trimmedSoFar(large.path)
      expect(reported).toBe(missing)
      seen.add(missing)
      await setImmediate()
    }
    await trimming
    expect(seen.size).toBeGreaterThan(3)
  })

  test('another trim waits, and no event is trimmed twice', async () => {
    const large = await largeJournal(6_000)
    const { journal } = large
    const [first, second, third] = await Promise.all([
      journal.trim({ events: 4_000 }),
      journal.trim({ events: 2_000 }),
      journal.trim({ events: 1_000 }),
    ])
    expect(first.events).toBeGreaterThanOrEqual(2_000)
    const { rows } = await expectInOrder(large)
    expect(rows).toBeLessThan(2_000)
    const trimmings = journal.head.seq - 6_000
    expect(first.events + second.events + third.events).toBe(6_000 + trimmings - rows)
  })

  test('the store can be closed, and the rest is trimmed later', async () => {
    const large = await largeJournal(20_000)
    const trimming = large.journal.trim({ events: 100 })
    await large.journal.append([note('meanwhile')])
    await large.store.close()
    await trimming.catch(() => undefined)
    const store = await opened(large.path, { retention: {} })
    const next = { ...large, store, journal: await store.journal('sbx_a') }
    const before = await expectInOrder(next)
    expect(before.rows).toBeGreaterThan(100)
    await next.journal.trim({ events: 100 })
    expect((await expectInOrder(next)).rows).toBeLessThan(before.rows)
  })
})

/** The trimmed events as another connection sees them at one moment: by the holes, and by `journal.trimmed`. */
function trimmedSoFar(path: string): { missing: number; reported: number } {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    db.exec('BEGIN')
    const holes = db.prepare('SELECT sum(to_seq - from_seq + 1) AS missing FROM holes').get()!
    const bodies = db.prepare("SELECT body FROM events WHERE body LIKE '%journal.trimmed%'").all()
    return {
      missing: Number(holes.missing),
      reported: bodies.reduce((sum, { body }) => sum + JSON.parse(String(body)).data.events, 0),
    }
  } finally {
    db.close()
  }
}
