import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryStore, type OpenStoreOptions, openStore } from '../../src/index.ts'
import { finished, messages, note, started } from '../fixtures/events.ts'
import { watched } from './watched.ts'

describe('when the pending bytes exceed their limit', () => {
  test('an append is rejected at once, and accepted events are committed', async () => {
    const { journal } = await held({ maxPendingBytes: 10_000 })
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => journal.append([note(`${index}`.padEnd(3_000, '.'))])),
    )
    expect(results.map(({ status }) => status)).toEqual([
      ...Array(3).fill('fulfilled'),
      ...Array(7).fill('rejected'),
    ])
    for (const result of results.slice(3)) {
      expect(result).toMatchObject({
        reason: { code: 'journal_overloaded', retryable: true, details: { limit: 10_000 } },
      })
    }
    expect((await messages(journal)).map((text) => Number.parseInt(String(text), 10))).toEqual([0, 1, 2])
  })

  test('appends are accepted again after the commit', async () => {
    const { journal } = await held({ maxPendingBytes: 10_000 })
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([1, 2, 3].map(() => journal.append([note('.'.repeat(3_000))])))
    }
    expect(journal.head.seq).toBe(15)
  })

  test('a single append larger than the limit is accepted when nothing is pending', async () => {
    const { journal } = await held({ maxPendingBytes: 1_000 })
    await journal.append([note('.'.repeat(5_000))])
    await journal.append([note('.'.repeat(5_000))])
    expect(journal.head.seq).toBe(2)
  })

  test('an end event is always accepted', async () => {
    const { journal } = await held({ maxPendingBytes: 4_000 })
    await journal.append([started('op_1')])
    const results = await Promise.allSettled([
      journal.append([note('.'.repeat(3_500))]),
      journal.append([note('.'.repeat(3_500))]),
      journal.append([finished('op_1')]),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test('a slow commit buffers no more than the limit', async () => {
    const gate = Promise.withResolvers<void>()
    const { journal } = await held({ maxPendingBytes: 10_000 }, () => gate.promise)
    const first = journal.append([note('.'.repeat(4_000))])
    await new Promise((resolve) => setTimeout(resolve, 20))
    const second = journal.append([note('.'.repeat(4_000))])
    await expect(journal.append([note('.'.repeat(4_000))])).rejects.toMatchObject({
      code: 'journal_overloaded',
    })
    gate.resolve()
    await Promise.all([first, second])
    await journal.append([note('.'.repeat(4_000))])
    expect(journal.head.seq).toBe(3)
  })
})

async function held(options: OpenStoreOptions, commit?: () => unknown) {
  const store = await openStore(watched(memoryStore(), commit ? { commit } : {}), options)
  onTestFinished(() => store.close())
  return { store, journal: await store.journal('sbx_a') }
}
