import { type Journal, memoryStore, openStore } from '@vitrine/journal'
import type { ExportedItem, JournalOrigin } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { numbers } from '../events/coverage.ts'
import { hostilePayloads } from '../events/hostile-payloads.ts'
import { messages, output } from '../events/inputs.ts'
import { withTimeLimit } from '../waiting/within.ts'
import { bytesOf, largeMessage } from './blobs.ts'
import { type MakeWriterAndReader, newReaderFixture } from './fixture.ts'

export function exportCases(make: MakeWriterAndReader): void {
  describe('exporting', () => {
    it('fills a mirror with the same events, hashes and blobs', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const { hash, text } = await largeMessage(writer)
      await writer.append(
        hostilePayloads.map(([, data]) => ({ type: 'foreign.event', data: { type: 'x', data } })),
      )
      await writer.append(messages(20))
      const { mirror } = await emptyMirror(writer.id)
      const one = await reader()
      await copy(one, mirror, 7)
      expect(mirror.head).toEqual(writer.head)
      expect(await mirror.verify({ head: writer.head })).toMatchObject({ ok: true })
      expect((await mirror.read()).events).toStrictEqual((await writer.read()).events)
      expect(String(await bytesOf(mirror.blob(hash)))).toBe(text)
    })

    it('fills a mirror with the same holes, if supported', async ({ skip }) => {
      const fixture = await newReaderFixture(make)
      const { trim, restart } = fixture
      if (!trim || !restart) return skip()
      await fixture.writer.append([...messages(5), ...numbers(1, 20).map((offset) => output('o', offset))])
      await trim({ events: 10 })
      // A restarted store has no trimmed events in memory.
      const writer = await restart()
      await writer.append(messages(3))
      const { mirror } = await emptyMirror(writer.id)
      const one = await fixture.reader()
      expect((await one.export()).some((item) => 'hole' in item)).toBe(true)
      await copy(one, mirror, 2)
      expect(mirror.head).toEqual(writer.head)
      expect(await mirror.verify({ head: writer.head })).toMatchObject({ ok: true })
    })

    it('follows with past items and then new ones', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(10))
      const tail = (await reader()).tailExport({ after: 4 })
      const items = await takeItems(tail, 6)
      await writer.append(messages(3))
      items.push(...(await takeItems(tail, 3)))
      await tail.return?.()
      expect(items).toEqual(await writer.export({ after: 4 }))
    })

    it('refuses a copy that is ahead, and bad options', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(3))
      const one = await reader()
      expect(await one.export({ after: 3 })).toEqual([])
      await expect(one.export({ after: 4 })).rejects.toMatchObject({ code: 'cursor_ahead' })
      await expect(one.tailExport({ after: 4 }).next()).rejects.toMatchObject({ code: 'cursor_ahead' })
      for (const options of [{ limit: 0 }, { limit: 10_001 }, { after: -1 }, { before: 2 }])
        await expect(one.export(options), JSON.stringify(options)).rejects.toMatchObject({
          code: 'argument_invalid',
        })
      expect(await one.export({ limit: 1 })).toHaveLength(1)
    })
  })

  describe('verifying', () => {
    it('accepts its own head, and names the first seq where another head differs', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(10))
      const one = await reader()
      const { head } = writer
      const verified = { ok: true, head, events: 10, missing: 0 }
      expect(await one.verify()).toEqual(verified)
      expect(await one.verify({ head })).toEqual(verified)
      expect(await one.verify({ head: { seq: 12, hash: head.hash } })).toMatchObject({ ok: false, seq: 11 })
      expect(await one.verify({ head: { seq: 4, hash: head.hash } })).toMatchObject({ ok: false, seq: 4 })
      for (const options of [{ head: { seq: -1, hash: 'x' } }, { hed: head }])
        await expect(one.verify(options), JSON.stringify(options)).rejects.toMatchObject({
          code: 'argument_invalid',
        })
    })
  })
}

async function emptyMirror(id: string): Promise<{ readonly mirror: Journal }> {
  const store = await openStore(memoryStore())
  onTestFinished(() => store.close())
  return { mirror: await store.journal(id) }
}

/** Copies everything that the mirror does not have yet, with its blobs. */
async function copy(from: JournalOrigin, mirror: Journal, limit: number): Promise<void> {
  for (;;) {
    const items = await from.export({ after: mirror.head.seq, limit })
    if (items.length === 0) return
    expect(await mirror.import(items, { from })).toEqual({ missingBlobs: [] })
  }
}

async function takeItems(tail: AsyncIterator<ExportedItem>, count: number): Promise<ExportedItem[]> {
  const items: ExportedItem[] = []
  while (items.length < count) {
    const { value, done } = await withTimeLimit(`item ${items.length + 1} of ${count}`, tail.next())
    if (done) throw new Error(`Expected ${count} items, but the tail ended after ${items.length}.`)
    items.push(value)
  }
  return items
}
