import { type JournalItem, VitrineError } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { log, messageOf, open, openMemory } from '../fixtures/open.ts'
import { settled, until } from '../fixtures/until.ts'
import { flakyStore } from '../operate/flaky-store.ts'
import { type Collector, collector } from './collector.ts'

const down = () => Promise.reject(new Error('receiver is down'))
const isAbout = (name: string) => (item: JournalItem) => 'seq' in item && item.data.sink === name
const about = (items: readonly JournalItem[], name: string) =>
  items.filter(isAbout(name)).map(({ type }) => type)

/** A sink that fails a number of times and then accepts everything. */
function failing(times: number, what: () => unknown = down): Collector {
  const sink = collector()
  sink.before = () => (sink.tries.length <= times ? what() : undefined)
  return sink
}

describe('a sink that fails', () => {
  it('gets the same batch with the same key again until it accepts it', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const sink = failing(3)
    await store.addSink('audit', sink.sink, { types: ['log.*'] })
    await record.append([log('1'), log('2')])
    await until(() => sink.tries.length >= 2)
    await record.append([log('3')])
    await store.flush()
    expect(sink.items.map(messageOf)).toEqual(['1', '2', '3'])
    const firsts = sink.tries.filter(({ events }) => messageOf(events[0]!) === '1')
    expect(firsts).toHaveLength(4)
    expect(new Set(firsts.map(({ key }) => key)).size).toBe(1)
    for (const { events } of firsts) expect(events.map(messageOf)).toEqual(['1', '2'])
    expect(sink.tries.at(-1)?.key).not.toBe(firsts[0]?.key)
  })

  it('is reported once when it starts to fail and once when it recovers', async () => {
    const store = await openMemory()
    const [sink, witness] = [failing(3), collector()]
    await store.addSink('audit', sink.sink)
    await store.addSink('witness', witness.sink)
    await (await store.journal('sbx_a')).append([log('1')])
    await until(() => about(witness.items, 'audit').includes('sink.recovered'))
    await store.flush()
    expect(about(witness.items, 'audit')).toEqual(['sink.failed', 'sink.recovered'])
    const [failed, recovered] = witness.events().filter(isAbout('audit'))
    expect(failed).toMatchObject({
      journal: 'host',
      derived: true,
      data: {
        sink: 'audit',
        errorType: 'VitrineError',
        errorCode: 'sink_rejected',
        errorMessage: 'receiver is down',
        retryable: true,
      },
    })
    expect(recovered).toMatchObject({ journal: 'host', data: { sink: 'audit' } })
    expect(recovered?.data.failedForMs).toBeGreaterThanOrEqual(0)
  })

  it('does not get events about its own failures, but about those of others', async () => {
    const store = await openMemory()
    const [one, two] = [failing(2), failing(2)]
    await store.addSink('one', one.sink)
    await store.addSink('two', two.sink)
    await (await store.journal('sbx_a')).append([log('1')])
    await until(() => about(one.items, 'two').length === 2 && about(two.items, 'one').length === 2)
    await store.flush()
    expect(about(one.items, 'one')).toEqual([])
    expect(about(two.items, 'two')).toEqual([])
    const { events } = await store.read()
    expect(about(events, 'one')).toEqual(['sink.failed', 'sink.recovered'])
    expect(about(events, 'two')).toEqual(['sink.failed', 'sink.recovered'])
  })

  it('is reported again when it fails again', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const sink = collector()
    await store.addSink('audit', sink.sink, { types: ['log.*'] })
    for (let round = 1; round <= 2; round += 1) {
      sink.before = down
      await record.append([log(`${round}`)])
      await until(async () => about((await store.read()).events, 'audit').length === round * 2 - 1)
      sink.before = () => undefined
      await until(async () => about((await store.read()).events, 'audit').length === round * 2)
    }
    expect(about((await store.read()).events, 'audit')).toEqual([
      ...['sink.failed', 'sink.recovered', 'sink.failed', 'sink.recovered'],
    ])
    expect(sink.items.map(messageOf)).toEqual(['1', '2'])
  })

  it('shows its error in its state until it recovers', async () => {
    const store = await openMemory()
    const sink = collector()
    sink.before = down
    const added = await store.addSink('audit', sink.sink)
    await (await store.journal('sbx_a')).append([log('1')])
    await until(() => added.state.status === 'failing')
    expect(added.state.error).toMatchObject({ code: 'sink_rejected', message: 'receiver is down' })
    expect(added.state.lag).toBeGreaterThan(0)
    sink.before = () => undefined
    await until(() => added.state.status === 'ok')
    expect(added.state).not.toHaveProperty('error')
  })

  it.each<[string, () => unknown, object]>([
    [
      'with a VitrineError',
      () => Promise.reject(new VitrineError('sink_unwritable', 'disk is gone')),
      { errorCode: 'sink_unwritable', errorMessage: 'disk is gone' },
    ],
    [
      'with a text',
      () => Promise.reject('just words'),
      { errorCode: 'sink_rejected', errorMessage: 'just words' },
    ],
    ['with nothing', () => Promise.reject(undefined), { errorCode: 'sink_rejected' }],
    [
      'with a value that cannot be converted to a string',
      () => Promise.reject(Object.create(null)),
      { errorCode: 'sink_rejected' },
    ],
  ])('is reported when it fails %s', async (_what, what, data) => {
    const store = await openMemory()
    const sink = failing(1, what)
    await store.addSink('audit', sink.sink, { types: ['log.*'] })
    await (await store.journal('sbx_a')).append([log('1')])
    await store.flush()
    await until(async () => about((await store.read()).events, 'audit').length === 2)
    const { events } = await store.read({ types: ['sink.failed'] })
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({ data: { sink: 'audit', ...data } })
  })

  it('is retried when it throws synchronously', async () => {
    const store = await openMemory()
    const taken: unknown[] = []
    let tries = 0
    await store.addSink('audit', {
      kind: 'throws',
      write({ events }) {
        tries += 1
        if (tries === 1) throw new Error('at once')
        taken.push(...events.map(messageOf))
        return Promise.resolve()
      },
    })
    await (await store.journal('sbx_a')).append([log('1')])
    await until(() => taken.length === 1)
  })

  it('is reported with secrets redacted', async () => {
    const store = await openMemory()
    store.addSecret('TOKEN', 'hunter2-planted')
    const sink = failing(1, () => Promise.reject(new Error('401 for hunter2-planted')))
    await store.addSink('audit', sink.sink, { types: ['log.*'] })
    await (await store.journal('sbx_a')).append([log('1')])
    await until(async () => about((await store.read()).events, 'audit').length === 2)
    const { events } = await store.read({ types: ['sink.failed'] })
    expect(events[0]?.data).toMatchObject({ errorMessage: '401 for [redacted:TOKEN]' })
  })
})

describe('closing', () => {
  const endless = () => new Promise<void>(() => undefined)

  it('does not wait forever for a sink that never settles and ignores its signal', async () => {
    const store = await openMemory({ closeMs: 50 })
    const [stuck, fine] = [collector(), collector()]
    let writeSignal: AbortSignal | undefined
    stuck.before = (_batch, { signal }) => {
      writeSignal = signal
      return endless()
    }
    await store.addSink('stuck', stuck.sink)
    await store.addSink('fine', fine.sink)
    await (await store.journal('sbx_a')).append([log('1')])
    await until(() => stuck.tries.length === 1 && fine.items.length === 1)
    expect((await settled(store.close())).status).toBe('fulfilled')
    expect(writeSignal?.aborted).toBe(true)
    expect(fine.items.map(messageOf)).toEqual(['1'])
    expect(fine.closed).toBe(1)
  })

  it('does not wait forever for a sink whose close() never settles', async () => {
    const store = await openMemory({ closeMs: 50 })
    await store.addSink('stuck', { kind: 'stuck', write: async () => undefined, close: endless })
    expect((await settled(store.close())).status).toBe('fulfilled')
  })

  it('succeeds and releases the store when a sink fails to close', async () => {
    const driver = flakyStore()
    const store = await open(driver)
    await store.addSink('broken', {
      kind: 'broken',
      write: async () => undefined,
      close: () => Promise.reject(new Error('cannot close')),
    })
    await settled(store.close())
    const again = await open(driver)
    expect(again.health.status).toBe('ok')
  })

  it('does not wait forever when only one sink is closed', async () => {
    const store = await openMemory({ closeMs: 50 })
    const stuck = collector()
    stuck.before = endless
    const added = await store.addSink('stuck', stuck.sink)
    await (await store.journal('sbx_a')).append([log('1')])
    await until(() => stuck.tries.length === 1)
    expect((await settled(added.close())).status).toBe('fulfilled')
    const next = collector()
    await store.addSink('stuck', next.sink)
    await until(() => next.items.length === 1)
  })

  it('lets the current write finish', async () => {
    const store = await openMemory()
    const sink = collector()
    const gate = Promise.withResolvers<void>()
    sink.before = () => gate.promise
    await store.addSink('audit', sink.sink)
    await (await store.journal('sbx_a')).append([log('1')])
    await until(() => sink.tries.length === 1)
    const closing = store.close()
    gate.resolve()
    await closing
    expect(sink.items.map(messageOf)).toEqual(['1'])
    expect(sink.closed).toBe(1)
  })

  it('does not wait for the retry delay of a failing sink', async () => {
    const store = await openMemory({ closeMs: 50 })
    const sink = collector()
    sink.before = () =>
      Promise.reject(new VitrineError('sink_rejected', 'busy', { details: { retryAfterMs: 3_600_000 } }))
    await store.addSink('audit', sink.sink)
    await (await store.journal('sbx_a')).append([log('1')])
    await until(() => sink.tries.length === 1)
    expect((await settled(store.close())).status).toBe('fulfilled')
    expect(sink.closed).toBe(1)
  })
})

describe('a sink of a store that ends', () => {
  it('does not delay a second close when its write never settles', async () => {
    const store = await openMemory({ closeMs: 50 })
    const stuck = await store.addSink('stuck', { kind: 'test', write: () => new Promise(() => undefined) })
    await (await store.journal('sbx_a')).append([log('1')])
    await Promise.all([stuck.close(), store.close()])
  })

  it('delivers nothing after a takeover, because the new owner does', async () => {
    const driver = memoryStore()
    const store = await open(driver)
    const sink = failing(1)
    await store.addSink('audit', sink.sink)
    await (await store.journal('sbx_a')).append([log('1')])
    await until(() => sink.tries.length === 1)
    await open(driver, { takeover: true })
    await until(() => store.lost.aborted)
    const { length } = sink.tries
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(sink.tries.length).toBe(length)
    await expect(store.flush()).rejects.toMatchObject({ code: 'store_fenced' })
  })
})
