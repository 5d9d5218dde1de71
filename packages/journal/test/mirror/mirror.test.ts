import { type JournalEvent, type JournalItem, parseEvent } from '@vitrine/protocol'
import { itemCursor } from '@vitrine/protocol/primitives'
import { describe, expect, it } from 'vitest'
import type { ExportedItem, Journal, OpenStoreOptions, Store } from '../../src/index.ts'
import { eventsOf, log, messageOf, open, openMemory, openSqlite, sqliteFile } from '../fixtures/open.ts'
import { settled, thrownBy } from '../fixtures/until.ts'

type Opener = (options?: OpenStoreOptions) => Promise<Store>
const ways: readonly [string, Opener, Opener][] = [
  ['memory to SQLite', openMemory, openSqlite],
  ['SQLite to memory', openSqlite, openMemory],
]

/** Without a cache, because it would still contain trimmed events. */
const forgetful = { recent: { maxEntries: 1 } }

/** A journal with operations, context and texts that have several JSON encodings. */
async function filled(store: Store, id = 'sbx_a'): Promise<Journal> {
  const record = await store.journal(id, { source: 'engine' })
  await record.as({ actor: 'ada', session: 'ses_1', run: 'run_1' }).operate('exec', { argv: ['ls'] }, () => 0)
  await record.append([
    log('Grüße 🙂 \u2028 "quoted" \\ \ud800'),
    { type: 'sandbox.ready', data: { 10: 'a', 9: 'b', z: 1e21, y: -0.5, x: [null, true, {}], '': '' } },
  ])
  return record
}

/** Copies everything page by page through JSON, as over a network. */
async function copy(from: Journal, to: Journal, limit = 1_000): Promise<void> {
  for (;;) {
    const page = await from.export({ after: to.head.seq, limit })
    if (page.length === 0) return
    await to.import(JSON.parse(JSON.stringify(page)) as ExportedItem[])
  }
}

describe.each(ways)('a mirror from %s', (_way, openFrom, openTo) => {
  it('has the same events, seq and hashes, whatever the size of the pages', async () => {
    const source = await filled(await openFrom())
    for (const limit of [1, 3, 1_000]) {
      const target = await openTo()
      const mirror = await target.journal('sbx_a')
      await copy(source, mirror, limit)
      expect(mirror.head).toEqual(source.head)
      const [there, here] = [await eventsOf(source), await eventsOf(mirror)]
      expect(JSON.stringify(here)).toBe(JSON.stringify(there))
      expect(await mirror.verify({ head: source.head })).toMatchObject({ ok: true, events: 4 })
      expect((await mirror.read({ session: 'ses_1' })).events).toHaveLength(2)
      expect((await mirror.read({ run: 'run_1', types: ['operation.started'] })).events).toHaveLength(1)
    }
  })

  it('follows the source and skips events it already has', async () => {
    const [from, to] = [await openFrom(), await openTo()]
    const source = await filled(from)
    const mirror = await to.journal('sbx_a')
    await copy(source, mirror)
    await source.append([log('more')])
    await mirror.import(await source.export())
    await mirror.import(await source.export())
    expect(mirror.head).toEqual(source.head)
    expect(await eventsOf(mirror)).toHaveLength(5)
  })

  it('takes the cursors that clients made of items of the source, and no other cursor of it', async () => {
    const source = await filled(await openFrom())
    const mirror = await (await openTo()).journal('sbx_a')
    await copy(source, mirror)
    const events = await eventsOf(source)
    const after = itemCursor('sbx_a', events[1]!)
    expect((await mirror.read({ after })).events).toEqual(events.slice(2))
    expect(await thrownBy(() => mirror.read({ after: source.cursor(events[1]!) }))).toMatchObject({
      code: 'cursor_foreign',
    })
  })

  it('delivers imported events to tails, taps and sinks', async () => {
    const source = await filled(await openFrom())
    const target = await openTo()
    const mirror = await target.journal('sbx_a')
    const [tapped, sunk]: [JournalEvent[], JournalItem[]] = [[], []]
    mirror.tap((event) => void tapped.push(event))
    await target.addSink('audit', {
      kind: 'list',
      async write({ events }) {
        sunk.push(...events)
      },
    })
    const tail = mirror.tail()
    const next = tail.next()
    await copy(source, mirror)
    await target.flush()
    const events = await eventsOf(source)
    expect(tapped).toEqual(events)
    expect(sunk).toEqual(events)
    expect((await next).value).toEqual(events[0])
    await tail.return?.()
  })

  it('imports holes with their types', async () => {
    const source = await filled(await openFrom(forgetful))
    await source.append(Array.from({ length: 30 }, (_, index) => log(`m${index}`)))
    await source.trim({ events: 20 })
    for (const limit of [1, 7, 1_000]) {
      const mirror = await (await openTo()).journal('sbx_a')
      await copy(source, mirror, limit)
      expect(mirror.head).toEqual(source.head)
      expect(await mirror.verify({ head: source.head })).toMatchObject({ ok: true })
      const bare = (items: readonly JournalItem[]) =>
        items.map((item) => ('seq' in item ? item : { ...item, data: { ...item.data, cursor: '' } }))
      expect(bare((await mirror.read()).events)).toEqual(bare((await source.read()).events))
      expect((await mirror.read()).events.some(({ type }) => type === 'journal.gap')).toBe(true)
    }
  })

  it('delivers holes in the middle to its tails and to a mirror of the mirror', async () => {
    const source = await (await openFrom(forgetful)).journal('sbx_a')
    const output = (data: string) => ({
      type: 'process.output',
      data: { process: 'p', stream: 'stdout', offset: 0, data, encoding: 'utf8' },
    })
    const audited = [
      { type: 'session.created', session: 'ses_1', data: { agent: 'demo' } },
      { type: 'session.updated', session: 'ses_1' },
    ]
    await source.append([...audited, output('gone'), output('gone too'), log('five'), log('six')])
    await source.append(Array.from({ length: 6 }, (_, index) => log(`later ${index}`)))
    // Output is trimmed first and audit events last, which leaves a hole in the middle.
    await source.trim({ events: 11 })
    const kinds = (items: readonly JournalItem[]) =>
      items.map((item) => ('seq' in item ? item.seq : `${item.data.from}-${item.data.to}`))
    const expected = kinds((await source.read()).events)
    expect(expected.slice(0, 4)).toEqual([1, 2, '3-5', 6])
    const mirror = await (await openTo()).journal('sbx_a')
    await copy(source, mirror)
    const tail = mirror.tail()
    const seen: JournalItem[] = []
    while (seen.length < expected.length) {
      const next = await settled(tail.next(), 1_000)
      if (next.status !== 'fulfilled' || next.value.done) break
      seen.push(next.value.value)
    }
    expect(kinds(seen)).toEqual(expected)
    await tail.return?.()
    const second = await (await openFrom()).journal('sbx_a')
    await copy(mirror, second)
    expect(second.head).toEqual(source.head)
  })

  it('rejects items that do not continue the journal, and changes nothing', async () => {
    const source = await filled(await openFrom())
    const items = await source.export()
    const mirror = await (await openTo()).journal('sbx_a')
    await mirror.import(items.slice(0, 2))
    const head = mirror.head
    const tampered = items.map((item) =>
      'event' in item && item.event.seq === 3
        ? { ...item, event: parseEvent({ ...item.event, data: { ...item.event.data, message: 'other' } }) }
        : item,
    )
    const renamed = items.map((item) =>
      'event' in item ? { ...item, event: { ...item.event, journal: 'sbx_b' } } : item,
    )
    const wrongs: [string, readonly ExportedItem[]][] = [
      ['a gap', items.slice(3)],
      ['another content', tampered],
      ['another journal', renamed],
      ['another order', [items[3]!, items[2]!]],
      ['a hash of its own', items.map((item) => ({ ...item, hash: 'f'.repeat(64) }) as ExportedItem)],
    ]
    for (const [, wrong] of wrongs) {
      expect(await thrownBy(() => mirror.import(wrong))).toMatchObject({ code: 'journal_diverged' })
      expect(mirror.head).toEqual(head)
    }
    await mirror.import(items)
    expect(await mirror.verify({ head: source.head })).toMatchObject({ ok: true })
  })

  it('rejects imports into a journal with its own events', async () => {
    const source = await filled(await openFrom())
    const target = await (await openTo()).journal('sbx_a')
    await target.append([log('my own')])
    expect(await thrownBy(async () => target.import(await source.export()))).toMatchObject({
      code: 'journal_diverged',
    })
    expect((await eventsOf(target)).map(messageOf)).toEqual(['my own'])
  })

  it('does not track work that is open in the source', async () => {
    const source = await (await openFrom()).journal('sbx_a')
    await source.append([{ type: 'run.started', run: 'run_1' }])
    const driver = await sqliteFile()
    const target = await open(driver)
    const mirror = await target.journal('sbx_a')
    await copy(source, mirror)
    await target.close()
    const again = await open(driver)
    expect(await eventsOf(await again.journal('sbx_a'))).toHaveLength(1)
    await source.append([{ type: 'run.finished', run: 'run_1', data: { outcome: 'ok' } }])
    await copy(source, await again.journal('sbx_a'))
    expect(await eventsOf(await again.journal('sbx_a'))).toHaveLength(2)
  })
})

describe('an export', () => {
  it('starts after a seq and has at most the requested number of items', async () => {
    const source = await filled(await openMemory())
    const page = await source.export({ after: 1, limit: 2 })
    expect(page.map((item) => 'event' in item && item.event.seq)).toEqual([2, 3])
    expect(await source.export({ after: 4 })).toEqual([])
    expect(await (await openMemory()).journal('sbx_b').then((empty) => empty.export())).toEqual([])
  })
})

describe.each(ways)('an import from %s that is malformed', (_way, _openFrom, openTo) => {
  const event = { journal: 'sbx_m', seq: 1, type: 'log.message', source: 'host', data: {} }
  const hole = { from: 1, to: 5, hash: 'a'.repeat(64), reason: 'bytes', types: ['*'] }
  it.each([
    ['without a time', { event, hash: '' }],
    ['with a time that is none', { event: { ...event, time: 'yesterday' }, hash: '' }],
    ['with a hole without an end', { hole: { ...hole, to: Number.NaN } }],
    ['with a hole of no types', { hole: { ...hole, types: 'all' } }],
  ])('rejects %s and commits other appends of the same tick', async (_name, item) => {
    const store = await openTo()
    const [mirror, other] = [await store.journal('sbx_m'), await store.journal('sbx_a')]
    await other.append([{ type: 'run.started', run: 'r', data: {} }])
    const [refused, ended] = await Promise.allSettled([
      // As parsed from JSON.
      mirror.import([item as unknown as ExportedItem]),
      other.append([{ type: 'run.finished', run: 'r', data: { outcome: 'ok' } }]),
    ])
    expect(refused).toMatchObject({ reason: { code: 'event_invalid' } })
    expect(ended.status).toBe('fulfilled')
  })

  it('delivers a hole at its end to readers and sinks at once', async () => {
    const store = await openTo()
    const mirror = await store.journal('sbx_m')
    await mirror.import([{ hole }])
    const source = await openMemory()
    const seen: string[] = []
    await store.addSink('all', {
      kind: 'test',
      write: async ({ events }) => void seen.push(...events.map(({ type }) => type)),
    })
    await (await source.journal('sbx_n')).append([log('1')])
    const other = await store.journal('sbx_n')
    await other.import(await (await source.journal('sbx_n')).export())
    await other.import([{ hole: { ...hole, from: 2 } }])
    await store.flush({ timeoutMs: 5_000 })
    expect(seen).toEqual(['journal.gap', 'log.message', 'journal.gap'])
  })
})
