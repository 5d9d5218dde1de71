import type { JournalItem } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { allItems } from '../events/all-items.ts'
import { eventsOf, numbers } from '../events/coverage.ts'
import { message, messages } from '../events/inputs.ts'
import { take } from '../waiting/take.ts'
import { type MakeStore, newStoreFixture, type StoreFixture } from './fixture.ts'

const journals = ['sbx_a', 'sbx_b', 'host']

export function orderCases(makeStore: MakeStore): void {
  describe('the whole store', () => {
    it('has one commit order over all journals', async () => {
      const fixture = await newStoreFixture(makeStore)
      const { store, texts } = await interleaved(fixture)
      expect(textsOf((await store.read()).events)).toEqual(texts)
      expect(textsOf((await store.read({ order: 'desc' })).events)).toEqual(texts.toReversed())
      const again = await fixture.reopen(store)
      expect(textsOf((await again.read()).events)).toEqual(texts)
    })

    it.each([1, 2, 7, 1_000])(
      'can be read in pages of %i with one cursor, without gap or duplicate',
      async (limit) => {
        const fixture = await newStoreFixture(makeStore)
        const { store, texts } = await interleaved(fixture)
        expect(textsOf(await allItems(store, { limit }))).toEqual(texts)
      },
    )

    it('continues at its cursor after reopening', async () => {
      const fixture = await newStoreFixture(makeStore)
      const { store, texts } = await interleaved(fixture)
      const { cursor } = await store.read({ limit: 10 })
      const again = await fixture.reopen(store)
      expect(textsOf((await again.read({ after: cursor })).events)).toEqual(texts.slice(10))
      expect(textsOf(await take(again.tail({ after: cursor }), texts.length - 10))).toEqual(texts.slice(10))
    })

    it('can be tailed live over all journals, including later ones', async () => {
      const fixture = await newStoreFixture(makeStore)
      const { store, texts } = await interleaved(fixture)
      const tail = store.tail()
      expect(textsOf(await take(tail, texts.length))).toEqual(texts)
      for (const id of ['new_1', 'sbx_a', 'new_2'])
        await (await store.journal(id)).append([message(`live in ${id}`)])
      expect(textsOf(await take(tail, 3))).toEqual(['live in new_1', 'live in sbx_a', 'live in new_2'])
    })

    it('can be tailed by type and from now on', async () => {
      const fixture = await newStoreFixture(makeStore)
      const { store } = await interleaved(fixture)
      const tail = store.tail({ after: 'now', types: ['file.*'] })
      await (await store.journal('sbx_b')).append([
        message('no'),
        { type: 'file.created', data: { path: '/a', kind: 'file' } },
      ])
      expect(await take(tail, 1)).toMatchObject([{ journal: 'sbx_b', type: 'file.created' }])
    })

    it('lists its journals', async () => {
      const fixture = await newStoreFixture(makeStore)
      const { store } = await interleaved(fixture)
      expect((await store.journals()).toSorted()).toEqual(journals.toSorted())
      const again = await fixture.reopen(store)
      expect((await again.journals()).toSorted()).toEqual(journals.toSorted())
    })

    it('rejects an invalid journal id', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      for (const id of ['', 'a b', '../etc', 'ü', 'a'.repeat(129)]) {
        await expect(store.journal(id)).rejects.toMatchObject({ code: 'argument_invalid' })
      }
    })

    it('keeps one order with concurrent writers', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const tail = store.tail()
      const writers = journals.map(async (id) => {
        const journal = await store.journal(id)
        for (const batch of numbers(1, 20)) await journal.append(messages((batch % 4) + 1, id))
      })
      await Promise.all(writers)
      const total = eventsOf((await store.read()).events).length
      expect(await take(tail, total)).toEqual((await store.read()).events)
    })
  })
}

async function interleaved(fixture: StoreFixture) {
  const store = await fixture.open()
  const texts: string[] = []
  for (const number of numbers(1, 30)) {
    const journal = await store.journal(journals[(number * 7) % 3] ?? 'host')
    texts.push(`number ${number}`)
    await journal.append([message(`number ${number}`)])
  }
  return { store, texts }
}

function textsOf(items: readonly JournalItem[]): unknown[] {
  return eventsOf(items).map(({ data }) => data.message)
}
