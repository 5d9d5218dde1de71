import { createHash, randomBytes } from 'node:crypto'
import type { Store } from '@vitrine/journal'
import type { BlobRef, EventInput } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../events/coverage.ts'
import { message, messages } from '../events/inputs.ts'
import { eventually } from '../waiting/within.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

const large = 'large field '.repeat(10_000)

export function blobCases(makeStore: MakeStore): void {
  describe('blobs', () => {
    it.each([0, 1, 1_000, 64 * 1024, 256 * 1024, 1_000_000])(
      'keep %i bytes under their hash after closing and a crash',
      async (size) => {
        const fixture = await newStoreFixture(makeStore)
        const first = await fixture.open()
        const bytes = new Uint8Array(randomBytes(size))
        const ref = await first.putBlob(bytes, { mediaType: 'application/octet-stream' })
        const hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
        expect(ref).toEqual({ blob: hash, bytes: size, mediaType: 'application/octet-stream' })
        expect(await bytesOf(first, ref)).toEqual(bytes)
        const second = await fixture.reopen(first)
        await fixture.crash(second)
        const third = await fixture.open()
        expect(await bytesOf(third, ref)).toEqual(bytes)
        expect(await third.getBlob(ref.blob)).toMatchObject({
          bytes: size,
          mediaType: 'application/octet-stream',
        })
      },
    )

    it('can be text, bytes and streams of bytes, and equal content is the same blob', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      async function* parts() {
        yield Buffer.from('hello ')
        yield Buffer.from('wörld')
      }
      const refs = [
        await store.putBlob('hello wörld'),
        await store.putBlob(Buffer.from('hello wörld')),
        await store.putBlob(parts()),
      ]
      expect(new Set(refs.map(({ blob }) => blob)).size).toBe(1)
      expect(Buffer.from(await bytesOf(store, refs[2])).toString()).toBe('hello wörld')
    })

    it('are stored once, however often they are put', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open({ blobs: { maxTotalBytes: 10_000 } })
      const content = randomBytes(6_000)
      for (let count = 0; count < 5; count += 1) await store.putBlob(content)
      await expect(store.putBlob(randomBytes(6_000))).rejects.toMatchObject({ code: 'blob_limit' })
    })

    it('can be read in ranges', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const bytes = randomBytes(600_000)
      const ref = await store.putBlob(bytes)
      const edges = [0, 1, 65_535, 65_536, 262_143, 262_144, 262_145, 599_999, 600_000]
      for (const start of edges) {
        for (const end of edges.filter((edge) => edge >= start)) {
          const part = await bytesOf(store, ref, { start, end })
          expect(Buffer.compare(part, bytes.subarray(start, end)), `${start} to ${end}`).toBe(0)
        }
      }
      expect((await store.getBlob(ref.blob, { start: 5 })).bytes).toBe(600_000)
    })

    it('reject a range outside of them and an unknown hash', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const { blob } = await store.putBlob('0123456789')
      for (const range of [{ start: -1 }, { start: 11 }, { end: 11 }, { start: 5, end: 4 }, { start: 1.5 }]) {
        await expect(store.getBlob(blob, range), JSON.stringify(range)).rejects.toMatchObject({
          code: 'range_invalid',
        })
      }
      for (const hash of [`sha256:${'0'.repeat(64)}`, '', 'x']) {
        await expect(store.getBlob(hash)).rejects.toMatchObject({ code: 'blob_not_found' })
      }
    })

    it('reject content that exceeds the limit of one or of all blobs', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open({ blobs: { maxBytes: 1_000, maxTotalBytes: 2_500 } })
      await expect(store.putBlob(randomBytes(1_001))).rejects.toMatchObject({ code: 'blob_too_large' })
      async function* endless() {
        for (;;) yield randomBytes(400)
      }
      await expect(store.putBlob(endless())).rejects.toMatchObject({ code: 'blob_too_large' })
      await store.putBlob(randomBytes(1_000))
      await store.putBlob(randomBytes(1_000))
      await expect(store.putBlob(randomBytes(1_000))).rejects.toMatchObject({ code: 'blob_limit' })
      const again = await fixture.reopen(store, { blobs: { maxTotalBytes: 2_500 } })
      await expect(again.putBlob(randomBytes(1_000))).rejects.toMatchObject({ code: 'blob_limit' })
    })

    it('count content once that is put twice concurrently', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open({ blobs: { maxTotalBytes: 10_000 } })
      const content = randomBytes(4_000)
      await Promise.all([store.putBlob(content), store.putBlob(content)])
      await store.putBlob(randomBytes(4_000))
    })

    it('stay exactly as long as an event refers to them', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const other = await store.journal('b')
      const ref = await store.putBlob('after-image')
      await journal.append([referring(ref), ...messages(10)])
      await other.append([referring(ref), ...messages(10)])

      await journal.trim({ events: 2 })
      await freeUnused(store)
      expect(Buffer.from(await bytesOf(store, ref)).toString()).toBe('after-image')

      await other.trim({ events: 2 })
      await eventually('the blob to be freed', async () => {
        await freeUnused(store)
        return store.getBlob(ref.blob).then(
          () => false,
          (error: { code?: unknown }) => error.code === 'blob_not_found',
        )
      })
    })

    it('stay for a grace period when no event refers to them yet', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const ref = await store.putBlob('new')
      await store.sweepBlobs()
      expect(Buffer.from(await bytesOf(store, ref)).toString()).toBe('new')
    })

    it('return their space when they are freed', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open({ blobs: { maxTotalBytes: 1_500 } })
      await store.putBlob(randomBytes(1_000))
      await eventually('room for another blob', async () => {
        await freeUnused(store)
        return store.putBlob(randomBytes(1_000)).then(
          () => true,
          () => false,
        )
      })
    })

    it('can be read by a read-only store', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const ref = await store.putBlob('shared')
      expect(Buffer.from(await bytesOf(await fixture.readOnly(), ref)).toString()).toBe('shared')
    })
  })

  describe('a large field', () => {
    it('becomes a blob and is read back completely', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const [event] = await journal.append([
        { type: 'foreign.event', data: { type: 'x', data: { deep: [{ text: large }], small: 'stays' } } },
      ])
      expect(event?.data.data).toMatchObject({ small: 'stays', deep: [{ text: { bytes: large.length } }] })
      const again = await fixture.reopen(store)
      const [read] = eventsOf((await (await again.journal('a')).read()).events)
      expect(read).toEqual(event)
      expect(await textAt(again, read?.data)).toBe(large)
    })

    it('is freed with its event', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const [event] = await journal.append([
        { ...message(''), data: { level: 'info', message: 'x', extra: large } },
      ])
      const hash = refIn(event?.data.extra).blob
      await freeUnused(store)
      await store.getBlob(hash)
      await journal.append(messages(10))
      await journal.trim({ events: 2 })
      await eventually('the blob to be freed', async () => {
        await freeUnused(store)
        return store.getBlob(hash).then(
          () => false,
          () => true,
        )
      })
    })

    it('is not stored when its batch is rejected', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const batch: EventInput[] = [
        { ...message(''), data: { level: 'info', message: 'x', extra: large } },
        { type: 'process.exited', data: { process: 'never', outcome: 'ok' } },
      ]
      await expect(journal.append(batch)).rejects.toMatchObject({ code: 'work_not_open' })
      const hash = `sha256:${createHash('sha256').update(large).digest('hex')}`
      await expect(store.getBlob(hash)).rejects.toMatchObject({ code: 'blob_not_found' })
    })

    it('is truncated with a note when there is no space for a blob', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open({ blobs: { maxTotalBytes: 1_000 } })
      const [event] = await (await store.journal('a')).append([
        { ...message(''), data: { level: 'info', message: 'x', extra: large } },
      ])
      const { extra } = event?.data ?? {}
      expect(extra).toBeTypeOf('string')
      expect(String(extra)).toMatch(/left out/)
      expect(String(extra).length).toBeLessThan(large.length)
    })
  })
}

function referring({ blob }: BlobRef): EventInput {
  return { type: 'file.changed', data: { path: '/f', kind: 'file', after: blob } }
}

async function bytesOf(
  store: Store,
  ref: BlobRef | undefined,
  range?: { start: number; end: number },
): Promise<Uint8Array> {
  const { stream } = await store.getBlob(ref?.blob ?? '', range)
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(part)
  return new Uint8Array(Buffer.concat(parts))
}

/** Frees unused blobs without the grace period. */
async function freeUnused(store: Store): Promise<void> {
  await store.sweepBlobs({ graceMs: 0 })
}

async function textAt(store: Store, data: unknown): Promise<string> {
  const found = JSON.stringify(data).match(/sha256:[0-9a-f]{64}/)?.[0]
  return Buffer.from(await bytesOf(store, { blob: found ?? '', bytes: 0 })).toString()
}

function refIn(value: unknown): { blob: string } {
  if (typeof value === 'object' && value !== null && 'blob' in value) return { blob: String(value.blob) }
  throw new Error('Expected a field that became a blob.')
}
