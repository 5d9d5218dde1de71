import type { JournalEvent } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import type { Journal, OpenStoreOptions, Tap, TapOptions } from '../../src/index.ts'
import { eventsOf, log, messageOf, openMemory } from '../fixtures/open.ts'
import { settled, thrownBy, until } from '../fixtures/until.ts'

async function journal(options?: OpenStoreOptions): Promise<Journal> {
  return (await openMemory(options)).journal('sbx_a')
}

const messages = (count: number) => Array.from({ length: count }, (_, index) => log(`m${index}`))
const names = (count: number) => messages(count).map(({ data }) => data?.message)

/** Waits until all pending microtasks and immediates have run. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
}

describe('a tap', () => {
  it('gets every event in journal order, however events were batched', async () => {
    const record = await journal()
    const seen: JournalEvent[] = []
    record.tap((event) => void seen.push(event))
    await record.append(messages(3))
    await Promise.all([record.append([log('a'), log('b')]), record.append([log('c')])])
    expect(seen).toEqual(await eventsOf(record))
    expect(seen.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('gets an event only after its commit', async () => {
    const record = await journal()
    const heads: number[] = []
    record.tap(({ seq }) => {
      expect(record.head.seq).toBeGreaterThanOrEqual(seq)
      heads.push(record.head.seq)
    })
    await record.append(messages(2))
    expect(heads).toEqual([2, 2])
  })

  it('gets only later commits of its own journal', async () => {
    const store = await openMemory()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    await a.append([log('before')])
    const seen: unknown[] = []
    a.tap((event) => void seen.push([event.journal, messageOf(event)]))
    await Promise.all([b.append([log('elsewhere')]), a.append([log('here')])])
    expect(seen).toEqual([['sbx_a', 'here']])
  })

  it('gets only the requested types', async () => {
    const record = await journal()
    const seen: string[] = []
    const untap = record.tap((event) => void seen.push(event.type), {
      types: ['operation.*', 'sandbox.ready'],
    })
    await record.append([log('x'), { type: 'sandbox.ready' }, { type: 'sandbox.paused' }])
    await record.operate('exec', {}, () => undefined)
    expect(seen).toEqual(['sandbox.ready', 'operation.started', 'operation.finished'])
    expect(untap.delivered).toBe(3)
  })

  it('gets nothing after it was removed, even if it removes itself in the middle of a batch', async () => {
    const record = await journal()
    const [outside, inside]: [unknown[], unknown[]] = [[], []]
    const off = record.tap((event) => void outside.push(messageOf(event)))
    const self = record.tap((event) => {
      inside.push(messageOf(event))
      self()
    })
    await record.append(messages(2))
    off()
    off()
    await record.append(messages(2))
    expect(outside).toEqual(names(2))
    expect(inside).toEqual(['m0'])
    expect(off.delivered).toBe(2)
    expect(self.delivered).toBe(1)
  })

  it('can add other taps, which get only later events', async () => {
    const record = await journal()
    let set = 0
    const later: unknown[] = []
    const tap: Tap = (event) => {
      later.push(messageOf(event))
      if (set++ < 1_000) record.tap(tap)
    }
    record.tap(tap)
    await record.append([log('one')])
    expect(later).toEqual(['one'])
    await record.append([log('two')])
    expect(later).toEqual(['one', 'two', 'two'])
  })

  it.each<[string, unknown, TapOptions]>([
    ['no function', 'tap', {}],
    ['types that are no list', () => undefined, { types: 'file.*' as never }],
    ['a queue of nothing', () => undefined, { ordered: true, queue: 0 }],
    ['a queue that is no number', () => undefined, { ordered: true, queue: Number.NaN }],
  ])('is rejected with %s', async (_what, tap, options) => {
    const record = await journal()
    expect(await thrownBy(() => record.tap(tap as Tap, options))).toMatchObject({ code: 'argument_invalid' })
  })
})

describe('the event that a tap gets', () => {
  it('may be changed without effect on readers, other taps and the journal', async () => {
    const record = await journal()
    const live = record.tail({ after: 'now' })
    const next = live.next()
    const deep = { level: 'info', message: 'm', list: [{ a: [1, 2] }], nested: { b: { c: 'd' } } }
    const spoil = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const inner of Object.values(value)) spoil(inner)
      for (const key of Object.keys(value)) Reflect.deleteProperty(value, key)
      Reflect.set(value, 'spoiled', true)
    }
    const second: JournalEvent[] = []
    record.tap(spoil)
    record.tap((event) => void second.push(event))
    const [returned] = await record.append([{ type: 'log.message', actor: 'ada', data: deep }])
    const [stored] = await eventsOf(record)
    expect(stored).toMatchObject({ actor: 'ada', data: deep })
    expect(second).toEqual([stored])
    expect(returned).toEqual(stored)
    expect((await next).value).toEqual(stored)
    expect(await record.verify()).toMatchObject({ ok: true })
    await live.return?.()
  })

  it('is a new copy every time, including keys such as __proto__', async () => {
    const record = await journal()
    const seen: JournalEvent[] = []
    for (let count = 0; count < 2; count += 1) record.tap((event) => void seen.push(event))
    const data = JSON.parse(
      '{"level":"info","message":"m","__proto__":{"admin":true},"list":[[]],"none":null}',
    )
    await record.append([{ type: 'log.message', data }])
    const [stored] = await eventsOf(record)
    const [one, two] = seen
    expect(JSON.stringify(one)).toBe(JSON.stringify(stored))
    expect(Object.hasOwn(one?.data ?? {}, '__proto__')).toBe(true)
    expect(one).not.toBe(two)
    expect(one?.data).not.toBe(two?.data)
    expect(one?.data.list).not.toBe(two?.data.list)
    expect(Object.isFrozen(one)).toBe(false)
  })
})

describe('a tap that fails', () => {
  it.each<[string, Tap]>([
    [
      'throws',
      () => {
        throw new Error('tap is broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('tap is broken'))],
    [
      'rejects later',
      async () => {
        await new Promise(setImmediate)
        throw new Error('tap is broken')
      },
    ],
    [
      'returns a thenable that throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: the point of the test
        get then(): never {
          throw new Error('tap is broken')
        },
      }),
    ],
  ])('is counted and reported when it %s, and affects nothing else', async (_what, tap) => {
    const reports: { error: unknown; event: JournalEvent | undefined }[] = []
    const record = await journal({
      onObserverError: (error, { event }) => void reports.push({ error, event }),
    })
    const healthy: unknown[] = []
    const untap = record.tap(tap)
    record.tap((event) => void healthy.push(messageOf(event)))
    await record.append(messages(3))
    expect(await record.operate('exec', {}, () => 'done')).toBe('done')
    // The five events, and the message about the first error.
    await until(() => untap.errors === 6)
    expect(untap.delivered).toBe(6)
    expect(healthy.slice(0, 3)).toEqual(names(3))
    expect(reports).toHaveLength(6)
    expect(reports[0]).toMatchObject({ error: { message: 'tap is broken' }, event: { seq: 1 } })
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('reporter is broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('reporter is broken'))],
  ])('is ignored when its error handler %s', async (_what, onObserverError) => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    try {
      const record = await journal({ onObserverError })
      const untap = record.tap(() => Promise.reject(new Error('tap is broken')))
      await record.append(messages(2))
      await until(() => untap.errors === 3)
      await turns()
      expect(unhandled).toEqual([])
      expect(record.head.seq).toBe(3)
    } finally {
      process.off('unhandledRejection', note)
    }
  })

  it('needs no error handler', async () => {
    const record = await journal()
    const untap = record.tap(() => Promise.reject(new Error('tap is broken')))
    await record.append(messages(1))
    await until(() => untap.errors === 2)
  })

  it.each([{ ordered: false }, { ordered: true }])(
    'delays nothing when it never settles (%j)',
    async (options) => {
      const store = await openMemory()
      const record = await store.journal('sbx_a')
      record.tap(() => new Promise<void>(() => undefined), options)
      await record.append(messages(50))
      expect(await record.operate('exec', {}, () => 'done')).toBe('done')
      await record.flush()
      expect((await settled(store.close())).status).toBe('fulfilled')
    },
  )
})

describe('an ordered tap', () => {
  it('is called for one event at a time, in order', async () => {
    const record = await journal()
    const order: string[] = []
    let running = 0
    const untap = record.tap(
      async (event) => {
        running += 1
        expect(running).toBe(1)
        order.push(`begin ${messageOf(event)}`)
        // The first call takes longest: without ordering it would end last.
        for (let turn = 5; turn > event.seq; turn -= 1) await new Promise(setImmediate)
        order.push(`end ${messageOf(event)}`)
        running -= 1
      },
      { ordered: true },
    )
    await record.append(messages(4))
    await until(() => order.length === 8)
    expect(order).toEqual(names(4).flatMap((name) => [`begin ${name}`, `end ${name}`]))
    expect([untap.delivered, untap.errors, untap.dropped]).toEqual([4, 0, 0])
  })

  it('an unordered tap is called for the next event without waiting', async () => {
    const record = await journal()
    const gate = Promise.withResolvers<void>()
    const untap = record.tap(() => gate.promise)
    await record.append(messages(4))
    expect(untap.delivered).toBe(4)
    gate.resolve()
  })

  it('continues after an error', async () => {
    const errors: unknown[] = []
    const record = await journal({ onObserverError: (error) => void errors.push(error) })
    const seen: unknown[] = []
    const untap = record.tap(
      (event) => {
        seen.push(messageOf(event))
        throw new Error('every time')
      },
      { ordered: true },
    )
    await record.append(messages(3))
    await until(() => untap.errors === 4)
    expect(seen).toEqual([...names(3), 'The observer tap failed: every time'])
    expect(errors).toHaveLength(4)
  })

  it('drops and counts events that do not fit into its queue, and delivers the others', async () => {
    const record = await journal()
    const gate = Promise.withResolvers<void>()
    const seen: unknown[] = []
    const untap = record.tap(
      async (event) => {
        seen.push(messageOf(event))
        await gate.promise
      },
      { ordered: true, queue: 2 },
    )
    await record.append(messages(10))
    expect(untap.delivered).toBe(1)
    expect(untap.dropped).toBe(7)
    gate.resolve()
    await until(() => untap.delivered === 3)
    expect(seen).toEqual(['m0', 'm1', 'm2'])
    await turns()
    await record.append([log('later')])
    await until(() => untap.delivered === 4)
    expect(seen.at(-1)).toBe('later')
    expect(untap.dropped).toBe(7)
    expect(await eventsOf(record)).toHaveLength(11)
  })

  it('drops its queue when it is removed', async () => {
    const record = await journal()
    const gate = Promise.withResolvers<void>()
    const seen: unknown[] = []
    const untap = record.tap(
      async (event) => {
        seen.push(messageOf(event))
        await gate.promise
      },
      { ordered: true },
    )
    await record.append(messages(5))
    untap()
    gate.resolve()
    await turns()
    await record.append(messages(1))
    await turns()
    expect(seen).toEqual(['m0'])
    expect(untap.delivered).toBe(1)
  })
})

describe('a tap that never settles', () => {
  it('has a limited number of calls in flight; further events are dropped and counted', async () => {
    const record = await journal()
    const off = record.tap(() => new Promise(() => undefined), { queue: 5 })
    await record.append(messages(8))
    expect([off.delivered, off.dropped]).toEqual([5, 3])
  })
})
