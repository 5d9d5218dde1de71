import { setTimeout as sleep } from 'node:timers/promises'
import type { EventInput } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import type { Journal, JournalStream } from '../../src/index.ts'
import { eventsOf, log, messageOf, openMemory } from '../fixtures/open.ts'
import { settled, thrownBy, until } from '../fixtures/until.ts'

async function open(): Promise<{ record: Journal; out: JournalStream }> {
  const store = await openMemory()
  store.addSecret('TOKEN', 'hunter2-planted')
  const record = await store.journal('sbx_a')
  return { record, out: record.stream() }
}

/** A text that ends with the beginning of a secret. */
const suspicious = log('it is hunter2')
const tooLarge: EventInput = {
  type: 'log.message',
  data: {
    level: 'info',
    message: 'm',
    ...Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 'x'.repeat(60_000)])),
  },
}

const messages = async (record: Journal) => (await eventsOf(record)).map(messageOf)

describe('an event whose end might be the beginning of a secret', () => {
  it('waits together with the events after it, so that their order stays', async () => {
    const { record, out } = await open()
    const calls = [
      out.append([suspicious]),
      out.append([{ type: 'sandbox.ready' }]),
      out.append([log(' end')]),
    ]
    await Promise.all(calls)
    const events = await eventsOf(record)
    expect(events.map(({ type }) => type)).toEqual(['log.message', 'sandbox.ready', 'log.message'])
  })

  it('is committed by end(), before later events', async () => {
    const { record, out } = await open()
    const call = out.append([suspicious])
    await sleep(1)
    expect(record.head.seq).toBe(0)
    await out.end()
    expect(record.head.seq).toBe(1)
    await record.append([log('the exit')])
    expect((await messages(record)).at(-1)).toBe('the exit')
    expect(await call).toHaveLength(1)
  })

  it('is committed by itself after the hold time', async () => {
    const { record, out } = await open()
    const [event] = await out.append([suspicious])
    expect(event?.seq).toBe(1)
    expect(record.head.seq).toBe(1)
  })

  it('is committed after the hold time although more events follow', async () => {
    const { out } = await open()
    let committed = false
    const first = out.append([suspicious]).then(() => {
      committed = true
    })
    const others: Promise<unknown>[] = []
    // Events on another field, faster than the hold time, so that the match stays open.
    for (let count = 0; count < 40 && !committed; count += 1) {
      others.push(out.append([{ type: 'sandbox.stopped', data: { reason: 'r' } }]))
      await sleep(50)
    }
    const inTime = committed
    await out.end()
    await Promise.all([first, ...others])
    expect(inTime).toBe(true)
  })

  it('is committed unchanged when it does not contain a secret', async () => {
    const { record, out } = await open()
    const calls = [out.append([log('hunt')]), out.append([log('ing season')])]
    await out.end()
    await Promise.all(calls)
    expect(await messages(record)).toEqual(['hunt', 'ing season'])
  })

  it('belongs to the operation in which it was appended, even if another operation commits it', async () => {
    const { record, out } = await open()
    let inside: Promise<unknown> | undefined
    let first = ''
    await record.as({ turn: 'turn_1' }).operate('exec', {}, ({ id }) => {
      first = id
      inside = out.append([suspicious])
    })
    await record.as({ turn: 'turn_2' }).operate('read', {}, () => out.append([log(' and this')]))
    await inside
    const outside = out.append([suspicious])
    await record.as({ turn: 'turn_3' }).operate('write', {}, () => out.append([log(' and that')]))
    await outside
    const [one, two, three, four] = (await eventsOf(record)).filter(({ type }) => type === 'log.message')
    expect(one).toMatchObject({ operation: first, turn: 'turn_1' })
    expect(two).toMatchObject({ turn: 'turn_2' })
    expect(two?.operation).not.toBe(first)
    expect(three?.operation).toBeUndefined()
    expect(three?.turn).toBeUndefined()
    expect(four).toMatchObject({ turn: 'turn_3' })
  })
})

describe('a stream', () => {
  it('commits events at once that cannot be the beginning of a secret', async () => {
    const { record, out } = await open()
    const call = out.append([log('harmless')])
    await until(() => record.head.seq === 1)
    expect(await call).toMatchObject([{ seq: 1 }])
  })

  it('resolves every call with its own committed events', async () => {
    const { record, out } = await open()
    const calls = ['a hunter2', '-planted b', ' c'].map((text, index) =>
      out.append(index === 2 ? [log(text), log('d')] : [log(text)]),
    )
    await out.end()
    const [one, two, three] = await Promise.all(calls)
    const all = await eventsOf(record)
    expect([...one!, ...two!, ...three!]).toEqual(all)
    expect(three).toHaveLength(2)
  })

  it('rejects a whole call with one malformed event and accepts later calls', async () => {
    const { record, out } = await open()
    const held = out.append([suspicious])
    const refused = out.append([log('fine'), { type: 'log.message', data: { level: 'loud', message: 'x' } }])
    expect(await thrownBy(() => refused)).toMatchObject({
      code: 'event_invalid',
      details: { path: 'events[1].data.level' },
    })
    expect(await thrownBy(() => out.append([{ type: 'no.such' }]))).toMatchObject({
      code: 'event_type_unknown',
    })
    const after = out.append([log(' goes on')])
    await out.end()
    await Promise.all([held, after])
    expect(await messages(record)).toEqual(['it is hunter2', ' goes on'])
  })

  it('rejects an event that is too large without losing the one held before it', async () => {
    const { record, out } = await open()
    const held = out.append([suspicious])
    const refused = out.append([tooLarge])
    expect(await settled(refused)).toMatchObject({ status: 'rejected', reason: { code: 'event_invalid' } })
    await out.end()
    expect((await settled(held)).status).toBe('fulfilled')
    expect(await messages(record)).toEqual(['it is hunter2'])
  })

  it('rejects every pending call when the store is closed', async () => {
    const store = await openMemory()
    store.addSecret('TOKEN', 'hunter2-planted')
    const out = (await store.journal('sbx_a')).stream()
    const held = out.append([suspicious])
    await store.close()
    const result = await settled(held)
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'store_closed' })
    expect(result.status).not.toBe('pending')
    expect(await settled(out.append([log('late')]))).toMatchObject({ reason: { code: 'store_closed' } })
    await out.end()
  })

  it('may be ended twice, and used again after its end', async () => {
    const { record, out } = await open()
    await out.append([log('one')])
    await out.end()
    await out.end()
    await out.append([log('two')])
    await out.end()
    expect(await messages(record)).toEqual(['one', 'two'])
  })

  it('accepts an empty call', async () => {
    const { out } = await open()
    expect(await out.append([])).toEqual([])
  })
})
