import { type BlobRef, VitrineError } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import type { Journal, Store } from '../../src/index.ts'
import { bytesOf, hashOf } from '../blobs/content.ts'
import { log, openMemory, stores } from '../fixtures/open.ts'
import { thrownBy, until } from '../fixtures/until.ts'

const megabyte = 1024 * 1024

/** An origin whose every event refers to its own blob. */
async function originOf(...contents: readonly (Uint8Array | string)[]) {
  const store = await openMemory({ patterns: false })
  const journal = await store.journal('sbx_a')
  const refs: BlobRef[] = []
  for (const content of contents) {
    const { ref, blob } = store.prepareBlob(Buffer.from(content))
    await journal.append([{ type: 'foreign.event', data: { type: 'image', data: { image: ref.blob } } }], {
      blobs: [{ ref, blob }],
    })
    refs.push(ref)
  }
  return { store, journal, refs }
}

/** Counts the blobs that are read of a journal. */
function counted(journal: Journal) {
  const read: string[] = []
  const blob = (hash: string) => {
    read.push(hash)
    return journal.blob(hash)
  }
  return { read, from: { blob } }
}

async function textOf(store: Store, hash: string): Promise<string> {
  return new Response((await store.getBlob(hash)).stream).text()
}

describe.each(stores)('an import into a %s store', (_kind, openStore) => {
  it('copies the blobs that its events refer to, without masking them again', async () => {
    const secret = 'ghp_0123456789abcdefABCDEF0123456789abcd'
    const { journal: origin, refs } = await originOf(`token ${secret}`, 'hunter2-planted', 'plain')
    const store = await openStore()
    store.addSecret('KEY', 'hunter2-planted')
    const mirror = await store.journal('sbx_a')
    expect(await mirror.import(await origin.export(), { from: origin })).toEqual({ missingBlobs: [] })
    expect(await textOf(store, refs[0]!.blob)).toBe(`token ${secret}`)
    expect(await textOf(store, refs[1]!.blob)).toBe('hunter2-planted')
    expect(mirror.head).toEqual(origin.head)
    await store.sweepBlobs({ graceMs: 0 })
    expect(await textOf(store, refs[2]!.blob)).toBe('plain')
  })

  it('reads each blob once, and none that the store has', async () => {
    const { journal: origin, refs } = await originOf('one', 'two', 'one')
    const store = await openStore()
    await store.putBlob('two')
    const mirror = await store.journal('sbx_a')
    const { read, from } = counted(origin)
    await mirror.import(await origin.export(), { from })
    await mirror.import(await origin.export(), { from })
    expect(read).toEqual([refs[0]!.blob])
  })

  it('reads a blob again that was freed before an event referred to it', async () => {
    const { journal: origin, refs } = await originOf('one', 'two')
    const store = await openStore()
    await store.putBlob('one')
    const mirror = await store.journal('sbx_a')
    const { read, from } = counted(origin)
    const blob = async (hash: string) => {
      await until(async () => {
        await store.sweepBlobs({ graceMs: 0 })
        const found = store.getBlob(refs[0]!.blob)
        return found.then(
          () => false,
          () => true,
        )
      })
      return from.blob(hash)
    }
    expect(await mirror.import(await origin.export(), { from: { blob } })).toEqual({ missingBlobs: [] })
    expect(read).toEqual([refs[1]!.blob, refs[0]!.blob])
    await store.sweepBlobs({ graceMs: 0 })
    expect(await textOf(store, refs[0]!.blob)).toBe('one')
  })

  it('lists blobs that the origin has not, or that do not fit, and takes the events', async () => {
    const { journal: origin, refs } = await originOf(bytesOf(500), bytesOf(3_000), bytesOf(900, 2))
    await origin.append([log(hashOf('never stored'))])
    const store = await openStore({ blobs: { maxBytes: 2_000, maxTotalBytes: 1_000 } })
    const mirror = await store.journal('sbx_a')
    const { missingBlobs } = await mirror.import(await origin.export(), { from: origin })
    expect(missingBlobs).toEqual([
      { hash: refs[1]!.blob, code: 'blob_too_large' },
      { hash: refs[2]!.blob, code: 'blob_limit' },
      { hash: hashOf('never stored'), code: 'blob_not_found' },
    ])
    expect(mirror.head).toEqual(origin.head)
    expect(await mirror.verify({ head: origin.head })).toMatchObject({ ok: true })
    expect(await thrownBy(() => mirror.blob(refs[1]!.blob))).toMatchObject({ code: 'blob_not_found' })
  })

  it('lists every blob as missing when it is not told where they are', async () => {
    const { journal: origin, refs } = await originOf('one', 'two')
    const mirror = await (await openStore()).journal('sbx_a')
    expect(await mirror.import(await origin.export())).toEqual({
      missingBlobs: refs.map(({ blob: hash }) => ({ hash, code: 'blob_not_found' })),
    })
  })

  it('refuses bytes that do not have the hash of their blob, and stores nothing', async () => {
    const { journal: origin } = await originOf('one')
    const store = await openStore()
    const mirror = await store.journal('sbx_a')
    const from = { blob: async () => new Blob(['forged']).stream() }
    const error = await thrownBy(async () => mirror.import(await origin.export(), { from }))
    expect(error).toMatchObject({ code: 'blob_mismatch' })
    expect(mirror.head.seq).toBe(0)
    expect(await thrownBy(() => store.getBlob(hashOf('forged')))).toMatchObject({ code: 'blob_not_found' })
  })

  it('reads no blob for events that do not continue the journal', async () => {
    const { journal: origin } = await originOf('one', 'two', 'three')
    const mirror = await (await openStore()).journal('sbx_a')
    const { read, from } = counted(origin)
    const [, second, third] = await origin.export()
    const error = await thrownBy(() => mirror.import([second!, third!], { from }))
    expect(error).toMatchObject({ code: 'journal_diverged' })
    expect(read).toEqual([])
  })

  it('commits large blobs in portions, and continues after those that are there', async () => {
    const contents = [17, 17, 1].map((size, seed) => Buffer.alloc(size * megabyte, seed + 1))
    const { journal: origin, refs } = await originOf(...contents)
    const store = await openStore({ patterns: false })
    const mirror = await store.journal('sbx_a')
    const broken = async (hash: string) => {
      if (hash === refs[1]!.blob) throw new VitrineError('connection_failed', 'The connection was cut.')
      return origin.blob(hash)
    }
    const error = await thrownBy(async () => mirror.import(await origin.export(), { from: { blob: broken } }))
    expect(error).toMatchObject({ code: 'connection_failed' })
    expect(mirror.head.seq).toBe(1)
    expect((await store.getBlob(refs[0]!.blob)).bytes).toBe(17 * megabyte)
    await mirror.import(await origin.export({ after: 1 }), { from: origin })
    expect(mirror.head).toEqual(origin.head)
    for (const [index, { blob }] of refs.entries())
      expect((await store.getBlob(blob)).bytes).toBe(contents[index]!.byteLength)
  })

  it('ends with its signal, before it reads the next blob', async () => {
    const { journal: origin, refs } = await originOf('one', 'two')
    const mirror = await (await openStore()).journal('sbx_a')
    const aborting = new AbortController()
    const { read, from } = counted(origin)
    const blob = async (hash: string) => {
      aborting.abort(new VitrineError('cancelled', 'The mirror was closed.'))
      return from.blob(hash)
    }
    const { signal } = aborting
    const error = await thrownBy(async () => mirror.import(await origin.export(), { from: { blob }, signal }))
    expect(error).toMatchObject({ code: 'cancelled' })
    expect(read).toEqual([refs[0]!.blob])
    expect(mirror.head.seq).toBe(0)
  })
})
