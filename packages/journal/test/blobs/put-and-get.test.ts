import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { open, openMemory, sqliteFile, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { bytesOf, contentOf, hashOf } from './content.ts'

describe.each(stores)('a blob in a %s store', (_kind, openStore) => {
  it('is found by the hash of its bytes', async () => {
    const store = await openStore()
    const bytes = bytesOf(1_000)
    const ref = await store.putBlob(bytes, { mediaType: 'image/png' })
    expect(ref).toEqual({ blob: hashOf(bytes), bytes: 1_000, mediaType: 'image/png' })
    const found = await store.getBlob(ref.blob)
    expect(found).toMatchObject({ bytes: 1_000, mediaType: 'image/png' })
    expect(await contentOf(found)).toEqual(Buffer.from(bytes))
  })

  it.each<[string, () => AsyncIterable<Uint8Array> | Uint8Array | string, Uint8Array]>([
    ['a text', () => 'Grüße, 世界', Buffer.from('Grüße, 世界')],
    ['an empty text', () => '', Buffer.alloc(0)],
    ['a view into a larger buffer', () => bytesOf(100).subarray(10, 20), bytesOf(100).subarray(10, 20)],
    [
      'an iterable',
      async function* () {
        yield bytesOf(10)
        yield new Uint8Array()
        yield bytesOf(5, 9)
      },
      Buffer.concat([bytesOf(10), bytesOf(5, 9)]),
    ],
    ['a stream', () => new Blob([bytesOf(300_000) as Uint8Array<ArrayBuffer>]).stream(), bytesOf(300_000)],
    [
      'an iterable that reuses its buffer',
      async function* () {
        const memory = Buffer.alloc(3)
        for (const word of ['one', 'two', 'six']) {
          memory.write(word)
          yield memory
        }
      },
      Buffer.from('onetwosix'),
    ],
  ])('can be put as %s', async (_what, content, bytes) => {
    const store = await openStore()
    const ref = await store.putBlob(content())
    expect(ref).toEqual({ blob: hashOf(bytes), bytes: bytes.byteLength })
    expect((await store.getBlob(ref.blob)).mediaType).toBeUndefined()
    expect(await contentOf(await store.getBlob(ref.blob))).toEqual(Buffer.from(bytes))
  })

  it("is a copy: later changes of the caller's memory have no effect", async () => {
    const store = await openStore()
    const bytes = bytesOf(1_000)
    const put = store.putBlob(bytes)
    bytes.fill(0)
    const ref = await put
    bytes.fill(1)
    expect(ref.blob).toBe(hashOf(bytesOf(1_000)))
    expect(await contentOf(await store.getBlob(ref.blob))).toEqual(Buffer.from(bytesOf(1_000)))
  })

  it('is read in any range', async () => {
    const store = await openStore()
    const size = 600_000
    const bytes = bytesOf(size)
    const { blob } = await store.putBlob(bytes)
    // Around the edges of parts as well as anywhere.
    const place = fc.oneof(
      fc.integer({ min: 0, max: size }),
      fc.constantFrom(0, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 524_288, size),
    )
    await fc.assert(
      fc.asyncProperty(place, place, async (a, b) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)]
        const found = await store.getBlob(blob, { start, end })
        expect(found.bytes).toBe(size)
        expect(Buffer.compare(await contentOf(found), bytes.subarray(start, end))).toBe(0)
      }),
      { numRuns: 60 },
    )
    expect(await contentOf(await store.getBlob(blob, { start: size - 3 }))).toEqual(
      Buffer.from(bytes.subarray(-3)),
    )
    expect(await contentOf(await store.getBlob(blob, { end: 3 }))).toEqual(Buffer.from(bytes.subarray(0, 3)))
  })

  it('is read as it is consumed, in parts', async () => {
    const store = await openStore()
    const { blob } = await store.putBlob(bytesOf(600_000))
    const sizes: number[] = []
    for await (const part of (await store.getBlob(blob)).stream) sizes.push(part.byteLength)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024)
    const reader = (await store.getBlob(blob)).stream.getReader()
    expect((await reader.read()).value).toBeDefined()
    await reader.cancel()
  })

  it.each([
    { start: -1 },
    { start: 11 },
    { end: 11 },
    { start: 5, end: 4 },
    { start: 0.5 },
    { end: Number.NaN },
    { start: Infinity },
  ])('refuses the range %j', async (range) => {
    const store = await openStore()
    const { blob } = await store.putBlob(bytesOf(10))
    expect(await thrownBy(() => store.getBlob(blob, range))).toMatchObject({
      code: 'range_invalid',
      status: 416,
      details: { bytes: 10 },
    })
  })

  it.each(['sha256:'.padEnd(71, '0'), 'nonsense', ''])(
    'is not found under the unknown hash %j',
    async (hash) => {
      const store = await openStore()
      expect(await thrownBy(() => store.getBlob(hash))).toMatchObject({ code: 'blob_not_found' })
    },
  )

  it('is stored once, even if it is put repeatedly and concurrently', async () => {
    const bytes = bytesOf(1_000)
    const store = await openStore({ blobs: { maxTotalBytes: 1_500 } })
    const refs = await Promise.all(Array.from({ length: 5 }, () => store.putBlob(bytes)))
    refs.push(await store.putBlob(bytes))
    expect(new Set(refs.map(({ blob }) => blob)).size).toBe(1)
    // If the content was counted once, 500 more bytes still fit.
    await store.putBlob(bytesOf(500, 2))
    expect(await thrownBy(() => store.putBlob(bytesOf(1, 3)))).toMatchObject({ code: 'blob_limit' })
  })

  it('is redacted before it is hashed and stored', async () => {
    const store = await openStore()
    store.addSecret('TOKEN', 'hunter2-planted')
    const ref = await store.putBlob('key = hunter2-planted\n')
    const stored = 'key = [redacted:TOKEN]\n'
    expect(ref).toEqual({ blob: hashOf(stored), bytes: stored.length, redacted: true })
    expect(String(await contentOf(await store.getBlob(ref.blob)))).toBe(stored)
    expect(await store.putBlob(stored)).toEqual({ blob: ref.blob, bytes: stored.length })
    const raw = await thrownBy(() => store.getBlob(hashOf('key = hunter2-planted\n')))
    expect(raw).toMatchObject({ code: 'blob_not_found' })
  })

  it('is redacted when a secret crosses the edge of its parts', async () => {
    const store = await openStore()
    store.addSecret('TOKEN', 'hunter2-planted')
    const content = async function* () {
      yield Buffer.from('a hunter2-')
      yield Buffer.from('planted b')
    }
    const ref = await store.putBlob(content())
    expect(String(await contentOf(await store.getBlob(ref.blob)))).toBe('a [redacted:TOKEN] b')
  })
})

describe('a limit of blobs', () => {
  it('stops reading a source that is too large before its end', async () => {
    const store = await openMemory({ blobs: { maxBytes: 100 } })
    await store.putBlob(bytesOf(100))
    let given = 0
    const endless = async function* () {
      for (;;) {
        given += 10
        yield bytesOf(10)
      }
    }
    const refusal = { code: 'blob_too_large', status: 413, details: { limit: 100 } }
    expect(await thrownBy(() => store.putBlob(endless()))).toMatchObject(refusal)
    expect(given).toBeLessThanOrEqual(110)
    expect(await thrownBy(() => store.putBlob(bytesOf(101)))).toMatchObject(refusal)
    expect(await thrownBy(() => store.putBlob('é'.repeat(51)))).toMatchObject(refusal)
  })

  it('counts the redacted bytes, which may be more than the given ones', async () => {
    const store = await openMemory({ blobs: { maxBytes: 20 } })
    store.addSecret('A_RATHER_LONG_NAME', 'hunter2')
    expect(await thrownBy(() => store.putBlob('hunter2 hunter2'))).toMatchObject({ code: 'blob_too_large' })
  })

  it('rejects one more blob when the total is exceeded', async () => {
    const store = await openMemory({ blobs: { maxTotalBytes: 250 } })
    await store.putBlob(bytesOf(100, 1))
    await store.putBlob(bytesOf(100, 2))
    expect(await thrownBy(() => store.putBlob(bytesOf(100, 3)))).toMatchObject({
      code: 'blob_limit',
      status: 507,
      details: { limit: 250 },
    })
    await store.putBlob(bytesOf(50, 3))
  })

  it('counts existing blobs after a restart', async () => {
    const driver = await sqliteFile()
    const first = await open(driver)
    await first.putBlob(bytesOf(100))
    await first.close()
    const second = await open(driver, { blobs: { maxTotalBytes: 150 } })
    expect(await thrownBy(() => second.putBlob(bytesOf(100, 2)))).toMatchObject({ code: 'blob_limit' })
    expect(await contentOf(await second.getBlob(hashOf(bytesOf(100))))).toEqual(Buffer.from(bytesOf(100)))
  })

  it('is not changed by a source that fails', async () => {
    const store = await openMemory({ blobs: { maxTotalBytes: 100 } })
    const failing = async function* () {
      yield bytesOf(90)
      throw new Error('source is gone')
    }
    expect(await thrownBy(() => store.putBlob(failing()))).toMatchObject({ message: 'source is gone' })
    await store.putBlob(bytesOf(100))
  })
})

it('the media type of a blob is redacted like its bytes', async () => {
  const store = await openMemory()
  store.addSecret('KEY', 'hunter22')
  const ref = await store.putBlob('text', { mediaType: 'text/plain; key=hunter22' })
  expect(ref.mediaType).toBe('text/plain; key=[redacted:KEY]')
  expect((await store.getBlob(ref.blob)).mediaType).toBe('text/plain; key=[redacted:KEY]')
})
