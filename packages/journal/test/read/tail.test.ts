import type { JournalItem } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { log, messageOf, openMemory, stores } from '../fixtures/open.ts'
import { settled, thrownBy } from '../fixtures/until.ts'

/** The next items of a tail. */
async function take(tail: AsyncIterator<JournalItem, undefined>, count: number): Promise<JournalItem[]> {
  const items: JournalItem[] = []
  while (items.length < count) {
    const { value, done } = await tail.next()
    if (done) break
    items.push(value)
  }
  return items
}

describe.each(stores)('a tail of a %s store', (_kind, openStore) => {
  it('yields past and then new events without gap or duplicate', async () => {
    const store = await openStore({ recent: { maxEntries: 16 } })
    const record = await store.journal('sbx_a')
    await record.append(Array.from({ length: 50 }, (_, index) => log(`${index}`)))
    const tail = record.tail()
    const reading = take(tail, 200)
    for (let index = 50; index < 200; index += 3) {
      await record.append([log(`${index}`), log(`${index + 1}`), log(`${index + 2}`)])
    }
    const items = await reading
    expect(items.map(messageOf)).toEqual(Array.from({ length: 200 }, (_, index) => `${index}`))
    await tail.return?.()
  })

  it('resumes after a cursor with a filter', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    await record.append([log('one'), { type: 'sandbox.ready' }, log('two')])
    const tail = record.tail({ after: record.cursor({ seq: 1 }), types: ['log.*'] })
    const reading = take(tail, 2)
    await record.append([{ type: 'sandbox.paused' }, log('three')])
    expect((await reading).map(messageOf)).toEqual(['two', 'three'])
    await tail.return?.()
  })

  it('yields no past events when it starts now', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    await record.append([log('before')])
    const [one, all] = [record.tail({ after: 'now' }), store.tail({ after: 'now' })]
    const reading = [take(one, 1), take(all, 1)]
    await record.append([log('after')])
    for (const items of await Promise.all(reading)) expect(items.map(messageOf)).toEqual(['after'])
    await Promise.all([one.return?.(), all.return?.()])
  })

  it('yields every journal of the store in commit order, including ones created later', async () => {
    const store = await openStore()
    const a = await store.journal('sbx_a')
    await a.append([log('a1')])
    const tail = store.tail()
    const reading = take(tail, 5)
    const b = await store.journal('sbx_b')
    await b.append([log('b1')])
    await a.append([log('a2')])
    await Promise.all([b.append([log('b2')]), a.append([log('a3')])])
    expect((await reading).map(messageOf)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
    await tail.return?.()
  })

  it('ends without an error when its signal aborts, even while it waits', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    for (const tail of ['journal', 'store'] as const) {
      const controller = new AbortController()
      const { signal } = controller
      const following = tail === 'journal' ? record.tail({ signal }) : store.tail({ signal })
      const waiting = following.next()
      controller.abort()
      expect(await settled(waiting)).toMatchObject({ status: 'fulfilled', value: { done: true } })
      expect(await following.next()).toEqual({ value: undefined, done: true })
    }
  })

  it('fails with store_closed when the store is closed', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    const waiting = record.tail().next()
    const all = store.tail().next()
    await store.close()
    expect(await thrownBy(() => waiting)).toMatchObject({ code: 'store_closed' })
    expect(await thrownBy(() => all)).toMatchObject({ code: 'store_closed' })
  })
})

describe('tails', () => {
  it('are independent of each other', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    const tails = Array.from({ length: 20 }, () => record.tail())
    const reading = tails.map((tail) => take(tail, 100))
    for (let index = 0; index < 100; index += 1) await record.append([log(`${index}`)])
    const all = await Promise.all(reading)
    for (const items of all) {
      expect(items.map(messageOf)).toEqual(Array.from({ length: 100 }, (_, index) => `${index}`))
      expect(items[0]).toBe(all[0]?.[0])
    }
    await Promise.all(tails.map((tail) => tail.return?.()))
  })

  it('lose nothing when they are not read for a while', async () => {
    const record = await (await openMemory({ recent: { maxEntries: 4 } })).journal('sbx_a')
    await record.append([log('0')])
    const tail = record.tail()
    expect(messageOf((await take(tail, 1))[0]!)).toBe('0')
    for (let index = 1; index <= 50; index += 1) await record.append([log(`${index}`)])
    const items = await take(tail, 50)
    expect(items.map(messageOf)).toEqual(Array.from({ length: 50 }, (_, index) => `${index + 1}`))
    await tail.return?.()
  })
})
