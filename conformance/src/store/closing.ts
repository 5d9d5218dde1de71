import { describe, expect, it } from 'vitest'
import { numbers, seqsOf } from '../events/coverage.ts'
import { messages } from '../events/inputs.ts'
import { attempt } from '../waiting/attempt.ts'
import { take } from '../waiting/take.ts'
import { withTimeLimit } from '../waiting/within.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function closingCases(makeStore: MakeStore): void {
  describe('a closed store', () => {
    it('rejects every call with store_closed', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(2))
      await store.close()
      const closed = { code: 'store_closed' }
      const calls = {
        append: () => journal.append(messages(1)),
        read: () => journal.read(),
        summary: () => journal.summary(),
        tail: () => journal.tail().next(),
        verify: () => journal.verify(),
        export: () => journal.export(),
        trim: () => journal.trim({ events: 1 }),
        'store.journal': () => store.journal('b'),
        'store.journals': () => store.journals(),
        'store.read': () => store.read(),
        'store.tail': () => store.tail().next(),
        'store.putBlob': () => store.putBlob('x'),
        'store.getBlob': () => store.getBlob(`sha256:${'0'.repeat(64)}`),
        'store.addSink': () => store.addSink('s', { kind: 'x', write: async () => {} }),
      }
      const outcomes: Record<string, unknown> = {}
      for (const [name, call] of Object.entries(calls)) {
        outcomes[name] = await attempt<unknown>(call).then(
          () => 'answered',
          (error: { code?: unknown }) => error.code,
        )
      }
      expect(outcomes).toEqual(Object.fromEntries(Object.keys(calls).map((name) => [name, closed.code])))
    })

    it('ends its tails with store_closed', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(1))
      const tail = journal.tail()
      await take(tail, 1)
      const next = tail.next().catch((error: unknown) => error)
      await store.close()
      expect(await withTimeLimit('the tail to end', next)).toMatchObject({ code: 'store_closed' })
    })

    it('has committed all events appended before', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const pending = messages(50).map((one) => journal.append([one]))
      const again = await (await fixture.reopen(store)).journal('a')
      expect(seqsOf((await Promise.all(pending)).flat())).toEqual(numbers(1, 50))
      expect(seqsOf((await again.read()).events)).toEqual(numbers(1, 50))
    })

    it('is released once close resolves, for every caller of close', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await (await store.journal('a')).append(messages(1))
      const first = store.close()
      await store.close()
      await fixture.open()
      await first
      await store.close()
    })
  })
}
