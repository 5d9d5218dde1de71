import type { EventInput } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import type { Journal, Store } from '../../src/index.ts'
import { log, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { type Clock, stopClock } from '../read/clock.ts'
import { bytesOf, contentOf } from './content.ts'

const fileChange = (after: string): EventInput => ({
  type: 'file.changed',
  data: { path: 'a.txt', kind: 'file', after },
})

/** Trims everything but the newest events of a journal. */
async function empty(record: Journal): Promise<void> {
  await record.append([log('the newest event stays')])
  await record.trim({ events: 1 })
}

async function isThere(store: Store, hash: string): Promise<boolean> {
  try {
    await store.getBlob(hash)
    return true
  } catch {
    return false
  }
}

async function sweepLater(clock: Clock, store: Store): Promise<void> {
  clock.advance(1_000)
  await store.sweepBlobs({ graceMs: 0 })
}

describe.each(stores)('a blob in a %s store', (_kind, openStore) => {
  it('stays as long as an event refers to it, and is freed with the last', async () => {
    const clock = stopClock()
    const store = await openStore()
    const record = await store.journal('sbx_a')
    const { blob } = await store.putBlob(bytesOf(100))
    await record.append([fileChange(blob)])
    await sweepLater(clock, store)
    expect(await isThere(store, blob)).toBe(true)
    await empty(record)
    expect(await isThere(store, blob)).toBe(true)
    await sweepLater(clock, store)
    expect(await thrownBy(() => store.getBlob(blob))).toMatchObject({ code: 'blob_not_found' })
  })

  it('stays while an event of another journal refers to it', async () => {
    const clock = stopClock()
    const store = await openStore()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    const { blob } = await store.putBlob(bytesOf(100))
    await a.append([fileChange(blob)])
    await b.append([fileChange(blob)])
    await empty(a)
    await sweepLater(clock, store)
    expect(await isThere(store, blob)).toBe(true)
    expect(await contentOf(await store.getBlob(blob))).toEqual(Buffer.from(bytesOf(100)))
    await empty(b)
    await sweepLater(clock, store)
    expect(await isThere(store, blob)).toBe(false)
  })

  it('stays while another event of the same journal refers to it', async () => {
    const clock = stopClock()
    const store = await openStore()
    const record = await store.journal('sbx_a')
    const { blob } = await store.putBlob(bytesOf(100))
    const process = { process: 'p', stream: 'stdout', offset: 0, data: blob, encoding: 'utf8' }
    // Output is trimmed first, and with it one of the two references.
    await record.append([log('oldest'), { type: 'process.output', data: process }, fileChange(blob)])
    await record.append(Array.from({ length: 8 }, () => log('filler')))
    await record.trim({ events: 10 })
    const { events } = await record.read({ types: ['process.output', 'file.*'] })
    expect(events.map(({ type }) => type)).toEqual(['journal.gap', 'file.changed'])
    await sweepLater(clock, store)
    expect(await isThere(store, blob)).toBe(true)
  })

  it('stays for the grace period when no event refers to it', async () => {
    const clock = stopClock()
    const store = await openStore()
    const { blob } = await store.putBlob(bytesOf(100))
    clock.advance(1_000)
    await store.sweepBlobs()
    expect(await isThere(store, blob)).toBe(true)
    await store.sweepBlobs({ graceMs: 60_000 })
    expect(await isThere(store, blob)).toBe(true)
    await sweepLater(clock, store)
    expect(await isThere(store, blob)).toBe(false)
  })

  it('gets a new grace period when it is put again', async () => {
    const clock = stopClock()
    const store = await openStore()
    const { blob } = await store.putBlob(bytesOf(100))
    clock.advance(60_000)
    await store.putBlob(bytesOf(100))
    await store.sweepBlobs({ graceMs: 30_000 })
    expect(await isThere(store, blob)).toBe(true)
  })

  it('returns its space when it is freed', async () => {
    const clock = stopClock()
    const store = await openStore({ blobs: { maxTotalBytes: 100 } })
    const { blob } = await store.putBlob(bytesOf(100, 1))
    expect(await thrownBy(() => store.putBlob(bytesOf(100, 2)))).toMatchObject({ code: 'blob_limit' })
    await sweepLater(clock, store)
    await store.putBlob(bytesOf(100, 2))
    // The same content can be stored again.
    await sweepLater(clock, store)
    expect((await store.putBlob(bytesOf(100, 1))).blob).toBe(blob)
  })

  it('fails its reader when it is freed while it is read', async () => {
    const clock = stopClock()
    const store = await openStore()
    const { blob } = await store.putBlob(bytesOf(200_000))
    const reader = (await store.getBlob(blob)).stream.getReader()
    await reader.read()
    await sweepLater(clock, store)
    const remaining = async () => {
      while (!(await reader.read()).done);
    }
    expect(await thrownBy(remaining)).toMatchObject({ code: 'blob_not_found' })
  })

  it('is freed when there are many of them', async () => {
    const clock = stopClock()
    const store = await openStore()
    const refs = await Promise.all(Array.from({ length: 200 }, (_, seed) => store.putBlob(bytesOf(10, seed))))
    await sweepLater(clock, store)
    const left = await Promise.all(refs.map(({ blob }) => isThere(store, blob)))
    expect(left.filter(Boolean)).toEqual([])
  })
})
