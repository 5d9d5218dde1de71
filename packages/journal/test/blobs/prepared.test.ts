import { describe, expect, it } from 'vitest'
import { openMemory, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { bytesOf, contentOf, hashOf } from './content.ts'

describe.each(stores)('a blob that is prepared for an append, in a %s store', (_kind, openStore) => {
  it('is stored with the events that refer to it, and not before', async () => {
    const store = await openStore()
    const journal = await store.journal('one')
    const memory = bytesOf(500)
    const prepared = store.prepareBlob(memory)
    memory.fill(0)
    expect(prepared.ref).toEqual({ blob: hashOf(bytesOf(500)), bytes: 500 })
    expect(await thrownBy(() => store.getBlob(prepared.ref.blob))).toMatchObject({ code: 'blob_not_found' })
    const data = { path: 'a', kind: 'file', after: prepared.ref.blob }
    await journal.append([{ type: 'file.created', data }], { blobs: [prepared] })
    expect(await contentOf(await store.getBlob(prepared.ref.blob))).toEqual(Buffer.from(bytesOf(500)))
    await store.sweepBlobs({ graceMs: 0 })
    expect((await store.getBlob(prepared.ref.blob)).bytes).toBe(500)
  })

  it('is redacted', async () => {
    const store = await openStore()
    store.addSecret('token', 'hunter2hunter2')
    const prepared = store.prepareBlob(Buffer.from('it is hunter2hunter2'))
    expect(prepared.ref.redacted).toBe(true)
    expect(Buffer.from(prepared.blob.bytes).toString()).not.toContain('hunter2')
  })

  it('is not stored when its events are rejected', async () => {
    const store = await openStore()
    const journal = await store.journal('one')
    const prepared = store.prepareBlob(bytesOf(10))
    const refused = () => journal.append([{ type: 'file.created', data: { path: 1 } }], { blobs: [prepared] })
    expect(await thrownBy(refused)).toMatchObject({ code: 'event_invalid' })
    expect(await thrownBy(() => store.getBlob(prepared.ref.blob))).toMatchObject({ code: 'blob_not_found' })
  })
})

it('a prepared blob is rejected when it exceeds the limit', async () => {
  const store = await openMemory({ blobs: { maxBytes: 100, maxTotalBytes: 150 } })
  expect(() => store.prepareBlob(bytesOf(101))).toThrow(expect.objectContaining({ code: 'blob_too_large' }))
  store.prepareBlob(bytesOf(100))
  store.prepareBlob(bytesOf(100))
  expect(() => store.prepareBlob(bytesOf(60, 7))).toThrow(expect.objectContaining({ code: 'blob_limit' }))
})
