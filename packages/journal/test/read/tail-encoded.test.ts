import { describe, expect, it } from 'vitest'
import type { EncodedEvent, Tail } from '../../src/index.ts'
import { note, output } from '../fixtures/events.ts'
import { openMemory, openSqlite, stores } from '../fixtures/open.ts'

/** The items up to and including the nth. */
async function take(tail: Tail<EncodedEvent>, count: number): Promise<EncodedEvent[]> {
  const taken: EncodedEvent[] = []
  while (taken.length < count) taken.push(...((await tail.batch()) ?? []))
  await tail.return()
  return taken
}

/** A framing whose bytes contain the number of its calls. */
function counted() {
  let made = 0
  return ({ cursor, json }: EncodedEvent) => Buffer.from(`${++made} ${cursor} ${json}`)
}

it('tailEncoded yields each item of a journal or of the store with its stored JSON and a cursor', async () => {
  const store = await openSqlite({ recent: { maxEntries: 0 } })
  const journal = await store.journal('sbx_a')
  await journal.append([note('one'), output(0, 'o'), note('two'), note('three')])
  await journal.trim({ events: 3 })
  for (const source of [journal, store]) {
    const all = (await source.read()).events
    let index = 0
    for await (const { item, json, cursor } of source.tailEncoded()) {
      expect(item).toEqual(all[index])
      expect(JSON.parse(json)).toEqual(item)
      index += 1
      expect((await source.read({ after: cursor })).events).toEqual(all.slice(index))
      if (index === all.length) break
    }
  }
})

it('the cursor of tailEncoded advances past yielded events and past events that the filter rejected', async () => {
  const journal = await (await openMemory()).journal('sbx_a')
  await journal.append([note('one'), note('two'), note('three'), output(0, 'o')])
  const after = (seq: number) => journal.cursor({ seq })
  const all = journal.tailEncoded()
  await all.next()
  expect(all.cursor).toBe(after(1))
  await all.next()
  expect(all.cursor).toBe(after(2))
  await all.batch()
  expect(all.cursor).toBe(after(4))
  await all.return()
  const left = journal.tailEncoded()
  await left.next()
  await left.return()
  expect(left.cursor).toBe(after(1))
  const notes = journal.tailEncoded({ types: ['log.message'], after: after(1) })
  await notes.begin()
  expect(notes.cursor).toBe(after(1))
  await notes.next()
  expect(notes.cursor).toBe(after(2))
  await notes.batch()
  expect(notes.cursor).toBe(after(4))
  await notes.return()
})

describe.each(stores)('in the %s store', (_kind, openStore) => {
  it('all readers of a recent event share its encoding, whatever their filters', async () => {
    const journal = await (await openStore()).journal('sbx_a')
    await journal.append([note('one'), output(0, 'o'), note('two')])
    const framing = counted()
    const first = (await take(journal.tailEncoded(), 3)).map((one) => one.frame(framing))
    const second = (await take(journal.tailEncoded({ page: 1 }), 3)).map((one) => one.frame(framing))
    const notes = (await take(journal.tailEncoded({ types: ['log.*'] }), 2)).map((one) => one.frame(framing))
    expect(first.map(String)).toEqual([1, 2, 3].map((n) => expect.stringMatching(`^${n} `)))
    for (const [index, bytes] of second.entries()) expect(bytes).toBe(first[index])
    expect(notes[0]).toBe(first[0])
    expect(notes[1]).toBe(first[2])
  })

  it('readers of the whole store share encodings only with each other, because their cursors differ', async () => {
    const store = await openStore()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    await a.append([note('one')])
    await b.append([note('two')])
    const framing = counted()
    const [own] = await take(b.tailEncoded(), 1)
    const [, whole] = await take(store.tailEncoded(), 2)
    const [, again] = await take(store.tailEncoded(), 2)
    const made = [own, whole, again].map((one) => String(one!.frame(framing)))
    expect(made).toEqual([
      `1 ${b.cursor({ seq: 1 })} ${own!.json}`,
      `2 ${whole!.cursor} ${own!.json}`,
      made[1],
    ])
    expect((await store.read({ after: whole!.cursor })).events).toEqual([])
  })

  it('the encoding of an event that is no longer recent is not cached', async () => {
    const journal = await (await openStore({ recent: { maxEntries: 4 } })).journal('sbx_a')
    const framing = counted()
    const live = journal.tailEncoded()
    const seen: EncodedEvent[] = []
    for (let at = 0; at < 10; at += 1) {
      await journal.append([note(String(at))])
      seen.push((await live.next()).value!)
    }
    await live.return()
    const frames = seen.map((one) => one.frame(framing))
    const again = (await take(journal.tailEncoded(), 10)).map((one) => one.frame(framing))
    for (const [index, bytes] of again.entries()) {
      if (index < 6) expect(bytes).not.toBe(frames[index])
      else expect(bytes).toBe(frames[index])
    }
  })
})

it('another framing gets its own bytes', async () => {
  const journal = await (await openMemory()).journal('sbx_a')
  await journal.append([note('one')])
  const [delivery] = await take(journal.tailEncoded(), 1)
  const [asJson, asLine] = [
    ({ json }: EncodedEvent) => Buffer.from(json),
    ({ json }: EncodedEvent) => Buffer.from(`${json}\n`),
  ]
  expect(String(delivery!.frame(asJson))).toBe(delivery!.json)
  expect(String(delivery!.frame(asLine))).toBe(`${delivery!.json}\n`)
  expect(String(delivery!.frame(asJson))).toBe(delivery!.json)
})

describe.each(stores)('a tail on %s that is aborted while a page comes', (_name, openStore) => {
  it('has a cursor before every event that it has not yielded', async () => {
    const store = await openStore()
    const journal = await store.journal('sbx_a')
    // The page is read after a varying number of event loop turns, so the abort is tried at each of them.
    for (let turns = 0; turns < 12; turns += 1) {
      const before = journal.head.seq
      const caller = new AbortController()
      const tail = journal.tailEncoded({ after: 'now', signal: caller.signal })
      await tail.begin()
      const batch = tail.batch()
      await journal.append([note(String(turns))])
      for (let turn = 0; turn < turns; turn += 1) await null
      caller.abort()
      const given = (await batch)?.length ?? 0
      const { events } = await journal.read({ after: tail.cursor! })
      expect({ turns, seen: given + events.length }).toEqual({ turns, seen: journal.head.seq - before })
    }
  })
})

it('a tail is live while its next events are in memory or not committed yet', async () => {
  const journal = await (await openMemory({ recent: { maxEntries: 4 } })).journal('sbx_a')
  const append = (count: number) => journal.append(Array.from({ length: count }, () => note('one')))
  await append(6)
  const tail = journal.tailEncoded({ page: 2 })
  expect(tail.isLive, 'event 1 was dropped').toBe(false)
  await tail.batch()
  expect(tail.isLive, 'events 3 to 6 are in memory').toBe(true)
  await tail.batch()
  await tail.batch()
  expect(tail.isLive, 'event 7 is not committed').toBe(true)
  await append(5)
  expect(tail.isLive, 'event 7 was dropped').toBe(false)
  await tail.next()
  expect(tail.isLive, 'event 8 is in its page').toBe(true)
  await tail.return()
})
