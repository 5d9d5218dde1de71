import { describe, expect, it } from 'vitest'
import { log, openMemory, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { stopClock } from '../read/clock.ts'
import { contentOf, hashOf } from './content.ts'

const kib = 1024
/** A summary that is short enough for a failure message. */
function shown(value: unknown): unknown {
  return typeof value === 'string' ? `a text of ${value.length}: ${value.slice(0, 10)}…` : value
}

const text = (length: number, letter = 'x') => letter.repeat(length)

describe.each(stores)('a field that is too large for its event, in a %s store', (_kind, openStore) => {
  it('becomes a blob, and the event refers to it', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    const message = text(64 * kib + 1)
    const [event] = await record.append([log(message)])
    expect(event?.data).toEqual({
      level: 'info',
      message: { blob: hashOf(message), bytes: message.length, mediaType: 'text/plain; charset=utf-8' },
    })
    expect(String(await contentOf(await store.getBlob(hashOf(message))))).toBe(message)
    expect(await record.verify()).toMatchObject({ ok: true })
  })

  it('stays in the event at exactly 64 KiB', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    const message = text(64 * kib)
    const [event] = await record.append([log(message)])
    expect(event?.data.message).toBe(message)
  })

  it('is found in nested data', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    const large = text(70 * kib)
    const data = { direction: 'in', message: { params: [{ prompt: large }, 'short'], id: 1 } }
    const [event] = await record.append([{ type: 'agent.message', data }])
    expect(event?.data.message).toEqual({
      id: 1,
      params: [{ prompt: expect.objectContaining({ blob: hashOf(large), bytes: large.length }) }, 'short'],
    })
  })

  it('is freed with its event', async () => {
    const clock = stopClock()
    const store = await openStore()
    const record = await store.journal('sbx_a')
    await record.append([log(text(70 * kib)), log('newest')])
    clock.advance(1_000)
    await store.sweepBlobs({ graceMs: 0 })
    await store.getBlob(hashOf(text(70 * kib)))
    await record.trim({ events: 1 })
    await store.sweepBlobs({ graceMs: 0 })
    expect(await thrownBy(() => store.getBlob(hashOf(text(70 * kib))))).toMatchObject({
      code: 'blob_not_found',
    })
  })

  it('has its secrets masked before it becomes a blob', async () => {
    const store = await openStore()
    store.addSecret('TOKEN', 'hunter2-planted')
    const record = await store.journal('sbx_a')
    const [event] = await record.append([log(`${text(70 * kib)} hunter2-planted`)])
    const stored = `${text(70 * kib)} [redacted:TOKEN]`
    expect(event?.data.message).toMatchObject({ blob: hashOf(stored) })
  })
})

describe('the size of a field', () => {
  it('is counted in bytes, not in characters', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    const message = text(30 * kib, '€')
    const [event] = await record.append([log(message)])
    expect(shown(event?.data.message)).toMatchObject({ blob: hashOf(message), bytes: 90 * kib })
  })

  it('moves the largest fields into blobs when many small ones exceed the limit of the event', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const list = Array.from({ length: 100 }, () => text(20 * kib))
    const [event] = await record.append([
      { type: 'log.message', data: { level: 'info', message: 'm', list } },
    ])
    expect(event?.data).toMatchObject({
      message: 'm',
      list: { blob: hashOf(JSON.stringify(list)), mediaType: 'application/json' },
    })
  })

  it('rejects the whole batch when an event is too large even without its large fields', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, text(60 * kib)]))
    const data = { level: 'info', message: 'm', ...fields }
    const error = await thrownBy(() => record.append([log('fine'), { type: 'log.message', data }]))
    expect(error).toMatchObject({ code: 'event_invalid', message: expect.stringContaining('1048576') })
    expect(record.head.seq).toBe(0)
  })
})

describe('a large field for which there is no room', () => {
  it('is truncated with a note', async () => {
    const store = await openMemory({ blobs: { maxTotalBytes: 100 * kib } })
    const record = await store.journal('sbx_a')
    const message = `HEAD${text(70 * kib, 'b')}TAIL`
    const [fits, cut] = await record.append([log(text(70 * kib, 'a')), log(message)])
    expect(fits?.data.message).toMatchObject({ bytes: 70 * kib })
    expect(cut?.data.message).toMatch(/^HEADb+…\[\d+ characters left out: no room for blobs\]…b+TAIL$/)
    expect(String(cut?.data.message).length).toBeLessThan(64 * kib)
    expect(await thrownBy(() => store.getBlob(hashOf(message)))).toMatchObject({ code: 'blob_not_found' })
  })

  it('is truncated when it is larger than one blob may be', async () => {
    const record = await (await openMemory({ blobs: { maxBytes: 65 * kib } })).journal('sbx_a')
    const [event] = await record.append([log(text(70 * kib))])
    expect(event?.data.message).toMatch(/no room for blobs/)
  })

  it('is truncated between characters', async () => {
    const record = await (await openMemory({ blobs: { maxTotalBytes: 0 } })).journal('sbx_a')
    const [event] = await record.append([log(`!${text(70 * kib, '🙂')}`)])
    expect(String(event?.data.message).isWellFormed()).toBe(true)
  })

  it('counts the same content once', async () => {
    const store = await openMemory({ blobs: { maxTotalBytes: 100 * kib } })
    const record = await store.journal('sbx_a')
    const message = text(70 * kib)
    for (let count = 0; count < 3; count += 1) {
      const [event] = await record.append([log(message)])
      expect(shown(event?.data.message)).toMatchObject({ blob: hashOf(message) })
    }
  })
})
