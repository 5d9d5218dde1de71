import type { JournalEvent, JournalGap, JournalItem } from '@vitrine/protocol'
import { itemCursor } from '@vitrine/protocol/primitives'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { log, open, openMemory, openSqlite, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { stopClock } from './clock.ts'

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const refusals = ['cursor_invalid', 'cursor_foreign', 'cursor_ahead']

/** Every text that differs from this one in one character. */
function* altered(cursor: string): Generator<string> {
  for (let place = 0; place < cursor.length; place += 1) {
    for (const letter of letters) {
      if (letter !== cursor[place]) yield cursor.slice(0, place) + letter + cursor.slice(place + 1)
    }
    yield cursor.slice(0, place) + cursor.slice(place + 1)
  }
}

describe.each(stores)('a cursor of a %s store', (_kind, openStore) => {
  it('is refused with any one character changed', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    await record.append(Array.from({ length: 100 }, () => log('x')))
    const taken: string[] = []
    for (const cursor of altered(record.cursor({ seq: 40 }))) {
      const error = await record.read({ after: cursor }).then(
        () => undefined,
        (reason) => reason,
      )
      if (!refusals.includes(error?.code)) taken.push(cursor)
    }
    expect(taken).toEqual([])
  })

  it('is rejected for the whole store with any one character changed', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    await record.append(Array.from({ length: 100 }, () => log('x')))
    const { cursor: whole } = await store.read({ limit: 40 })
    const taken: string[] = []
    for (const cursor of altered(whole)) {
      const error = await store.read({ after: cursor }).then(
        () => undefined,
        (reason) => reason,
      )
      if (!refusals.includes(error?.code)) taken.push(cursor)
    }
    expect(taken).toEqual([])
  })

  it.each([
    ['empty', ''],
    ['a number', '5'],
    ['words', 'not a cursor'],
    ['too long', 'a'.repeat(10_000)],
    ['no text', 7],
    ['an object', {}],
    ['null', null],
    ['now, which only a tail knows', 'now'],
  ])('is rejected when invalid (%s), and not repeated at full length', async (_what, cursor) => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    await record.append([log('x')])
    for (const read of [
      () => record.read({ after: cursor as string }),
      () => store.read({ before: cursor as string }),
    ]) {
      const error = await thrownBy(read)
      expect(error).toMatchObject({ code: 'cursor_invalid', status: 400 })
      expect(String(error).length).toBeLessThan(150)
    }
  })

  it('is valid for its journal only', async () => {
    const store = await openStore()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    await a.append([log('x')])
    await b.append([log('x')])
    const whole = (await store.read()).cursor
    const foreign = { code: 'cursor_foreign', status: 409 }
    expect(await thrownBy(() => b.read({ after: a.cursor({ seq: 1 }) }))).toMatchObject(foreign)
    expect(await thrownBy(() => a.read({ after: whole }))).toMatchObject(foreign)
    expect(await thrownBy(() => store.read({ after: a.cursor({ seq: 1 }) }))).toMatchObject(foreign)
    expect(await thrownBy(() => b.tail({ after: a.cursor({ seq: 1 }) }).next())).toMatchObject(foreign)
  })

  it('that a client made of an item is valid where the item is, or was', async () => {
    const clock = stopClock()
    const store = await openStore({ recent: { maxEntries: 0 } })
    const [record, other] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    for (let index = 0; index < 8; index += 1) {
      await record.append([log(`entry ${index}`)])
      clock.advance(1)
      await other.append([log('other')])
    }
    const items = (await record.read()).events as JournalEvent[]
    const remain = async (item: JournalItem) =>
      (await record.read({ after: itemCursor('sbx_a', item) })).events.flatMap((one) =>
        'seq' in one ? [one.seq] : [],
      )
    expect(await remain(items[4]!)).toEqual([6, 7, 8])
    await record.trim({ events: 4 })
    const [gap] = (await record.read()).events
    expect(await remain(gap!)).toEqual(await remain(items[0]!))
    const foreign = { code: 'cursor_foreign' }
    for (const item of [
      { ...items[6]!, time: new Date(Date.parse(items[6]!.time) + 1).toISOString() },
      { ...(gap as JournalGap), data: { ...(gap as JournalGap).data, to: 7 } },
      { ...items[0]!, seq: 0 },
    ])
      expect(await thrownBy(() => remain(item))).toMatchObject(foreign)
    const cursor = itemCursor('sbx_a', items[7]!)
    expect(await thrownBy(() => other.read({ after: cursor }))).toMatchObject(foreign)
    expect(await thrownBy(() => store.read({ after: cursor }))).toMatchObject(foreign)
    expect(await thrownBy(() => remain({ ...items[0]!, seq: 99 }))).toMatchObject({ code: 'cursor_ahead' })
  })

  it('is rejected as cursor_ahead beyond the end of the store', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    await record.append([log('x')])
    expect(await thrownBy(() => record.read({ after: record.cursor({ seq: 2 }) }))).toMatchObject({
      code: 'cursor_ahead',
    })
  })
})

describe('a cursor', () => {
  it('is rejected as foreign when it is from a journal of the same name in another store', async () => {
    const [one, two] = [await openMemory(), await openSqlite()]
    const [a, b] = [await one.journal('sbx_a'), await two.journal('sbx_a')]
    await a.append([log('here')])
    await b.append([log('there')])
    const foreign = { code: 'cursor_foreign' }
    expect(await thrownBy(() => b.read({ after: a.cursor({ seq: 1 }) }))).toMatchObject(foreign)
    expect(await thrownBy(async () => two.read({ after: (await one.read()).cursor }))).toMatchObject(foreign)
  })

  it('stays valid after the store was reopened', async () => {
    const driver = memoryStore()
    const first = await open(driver)
    const record = await first.journal('sbx_a')
    await record.append([log('a'), log('b')])
    const cursor = record.cursor({ seq: 1 })
    await first.close()
    const again = await (await open(driver)).journal('sbx_a')
    const { events } = await again.read({ after: cursor })
    expect(events).toHaveLength(1)
  })
})
