import { join } from 'node:path'
import type { EventInput } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type Journal,
  memoryStore,
  openStore,
  type RetentionLimits,
  type StoreDriver,
  sqliteStore,
} from '../../src/index.ts'
import { everything, note } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'
import { anyEvent, fill } from './random-journal.ts'

type Step = readonly EventInput[] | RetentionLimits

const appends = fc.array(anyEvent, { minLength: 1, maxLength: 30 })
const trims: fc.Arbitrary<RetentionLimits> = fc.oneof(
  fc.record({ events: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ bytes: fc.integer({ min: 1, max: 4_000 }) }),
  fc.constant({ ageMs: 1 }),
)
const steps: fc.Arbitrary<Step[]> = fc.array(fc.oneof(appends, trims), { minLength: 1, maxLength: 8 })

describe.each([
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore({ path: join(folder(), 'journal.db') })],
])('an unchanged journal in a store of kind %s', (_kind, driver) => {
  test('verifies after any appends and trims, and again for its next owner', async () => {
    const shared = driver()
    let name = 0
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        name += 1
        await using store = await openStore(shared)
        const journal = await store.journal(`sbx_${name}`)
        for (const step of all) {
          await (Array.isArray(step) ? fill(journal, step) : journal.trim(step as RetentionLimits))
          await expectVerified(journal)
        }
        const { head } = journal
        await store.close()
        await using next = await openStore(shared)
        const again = await next.journal(`sbx_${name}`)
        expect(again.head).toEqual(head)
        expect(await again.verify({ head })).toMatchObject({ ok: true, head })
      }),
      { numRuns: 25 },
    )
  })

  test('verifies with any text in the indexed fields', async () => {
    const journal = await opened(driver())
    const names = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 12 })
      .filter((name) => name.isWellFormed())
    await fc.assert(
      fc.asyncProperty(names, names, async (session, run) => {
        await journal.append([{ ...note('x'), session, run }])
        await expectVerified(journal)
      }),
      {
        numRuns: 60,
        examples: [
          ['a\0b', '\0'],
          ['"\\', '\u2028'],
          ['😀', 'é'],
        ],
      },
    )
  })

  test('verifies with data of the greatest depth', async () => {
    const journal = await opened(driver())
    for (const depth of [10, 500, 999, 1_000, 1_001, 2_000, 5_000]) {
      let data: unknown = 'bottom'
      for (let level = 0; level < depth; level += 1) data = [data]
      const event = { type: 'foreign.event', data: { type: 'deep', data } }
      // The append may be accepted or rejected.
      await journal.append([event as EventInput]).catch(() => undefined)
      await expectVerified(journal)
    }
    expect(journal.head.seq).toBeGreaterThan(0)
  })

  test('verifies with more events than one page of the verification', async () => {
    const journal = await opened(driver())
    for (let round = 0; round < 3; round += 1)
      await journal.append(Array.from({ length: 1_000 }, (_, index) => note(`${round} ${index}`)))
    await expectVerified(journal)
    await journal.trim({ events: 1_500 })
    await expectVerified(journal)
  })
})

test('an empty journal verifies', async () => {
  expect(await (await opened(memoryStore())).verify()).toMatchObject({ ok: true, events: 0, missing: 0 })
})

test('an unchanged journal fails verification against a head that it never had', async () => {
  const journal = await opened(memoryStore())
  await journal.append([note('one'), note('two')])
  const { seq, hash } = journal.head
  expect(await journal.verify({ head: { seq: 2, hash } })).toMatchObject({ ok: true })
  expect(await journal.verify({ head: { seq: 1, hash } })).toMatchObject({ ok: false, seq: 1 })
  expect(await journal.verify({ head: { seq: seq + 1, hash } })).toMatchObject({ ok: false, seq: 3 })
})

async function opened(driver: StoreDriver): Promise<Journal> {
  const store = await openStore(driver)
  onTestFinished(() => store.close())
  return store.journal('sbx_a')
}

/** Checks that every `seq` is stored or in a hole that `journal.trimmed` accounts for. */
async function expectVerified(journal: Journal): Promise<void> {
  const verification = await journal.verify({ head: journal.head })
  expect(verification).toMatchObject({ ok: true, head: journal.head })
  if (!verification.ok) return
  expect(verification.events + verification.missing).toBe(journal.head.seq)
  const items = await everything(journal)
  expect(items.filter(({ type }) => type !== 'journal.gap')).toHaveLength(verification.events)
}
