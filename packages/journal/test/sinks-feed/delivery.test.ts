import { describe, expect, it } from 'vitest'
import { callbackSink, memoryStore } from '../../src/index.ts'
import { log, messageOf, open, openMemory, sqliteFile } from '../fixtures/open.ts'
import { settled, thrownBy, until } from '../fixtures/until.ts'
import { collector } from './collector.ts'

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => log(`${from + index}`))
const names = (from: number, to: number) => numbered(from, to).map(({ data }) => data?.message)

describe('a sink', () => {
  it('gets every event of all journals once, in order', async () => {
    const store = await openMemory()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    await a.append(numbered(1, 3))
    const sink = collector()
    await store.addSink('audit', sink.sink)
    await b.append(numbered(4, 5))
    await Promise.all([a.append(numbered(6, 7)), b.append(numbered(8, 9))])
    await store.flush()
    expect(sink.items.map(messageOf)).toEqual(names(1, 9))
    expect(sink.items).toEqual((await store.read()).events)
  })

  it('gets one batch at a time, within its batch size', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const sink = collector({ batchEvents: 4 })
    let writing = 0
    let most = 0
    sink.before = async () => {
      writing += 1
      most = Math.max(most, writing)
      await new Promise(setImmediate)
      writing -= 1
    }
    await store.addSink('audit', sink.sink)
    for (let index = 1; index <= 50; index += 1) await record.append(numbered(index, index))
    await store.flush()
    expect(most).toBe(1)
    expect(Math.max(...sink.tries.map(({ events }) => events.length))).toBeLessThanOrEqual(4)
    expect(sink.items.map(messageOf)).toEqual(names(1, 50))
    expect(new Set(sink.tries.map(({ key }) => key)).size).toBe(sink.tries.length)
  })

  it('gets only the requested types, and the others do not count as lag', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const sink = collector()
    const added = await store.addSink('audit', sink.sink, { types: ['operation.*'] })
    await record.append(numbered(1, 20))
    await record.operate('exec', {}, () => undefined)
    await record.append(numbered(21, 40))
    await store.flush()
    expect(sink.items.map(({ type }) => type)).toEqual(['operation.started', 'operation.finished'])
    expect(added.state.lag).toBe(0)
  })

  it('starts at the beginning or now when its name is new', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    await record.append(numbered(1, 2))
    const [all, fresh] = [collector(), collector()]
    await store.addSink('all', all.sink)
    await store.addSink('fresh', fresh.sink, { from: 'now' })
    await record.append(numbered(3, 4))
    await store.flush()
    expect(all.items.map(messageOf)).toEqual(names(1, 4))
    expect(fresh.items.map(messageOf)).toEqual(names(3, 4))
  })

  it('gets a gap for events that were trimmed before it read them', async () => {
    const store = await openMemory({ recent: { maxEntries: 1 } })
    const record = await store.journal('sbx_a')
    await record.append(numbered(1, 20))
    await record.trim({ events: 10 })
    const sink = collector()
    await store.addSink('late', sink.sink)
    await store.flush()
    const [gap] = sink.items
    expect(gap).toMatchObject({ journal: 'sbx_a', type: 'journal.gap', data: { from: 1, reason: 'events' } })
    expect(gap).not.toHaveProperty('seq')
    expect(sink.items).toEqual((await store.read()).events)
  })
})

describe.each([
  ['memory', async () => memoryStore()],
  ['sqlite', sqliteFile],
])('the cursor of a sink in a %s store', (_kind, makeDriver) => {
  it('is used after the store was reopened', async () => {
    const driver = await makeDriver()
    const first = await open(driver)
    const before = collector()
    await first.addSink('audit', before.sink)
    await (await first.journal('sbx_a')).append(numbered(1, 5))
    await first.flush()
    await first.close()
    expect(before.items.map(messageOf)).toEqual(names(1, 5))
    expect(before.closed).toBe(1)

    const second = await open(driver)
    await (await second.journal('sbx_a')).append(numbered(6, 8))
    const after = collector()
    // The name is not new, so `from` is ignored.
    await second.addSink('audit', after.sink, { from: 'now' })
    await second.flush()
    expect(after.items.map(messageOf)).toEqual(names(6, 8))
  })

  it('is used after the sink was closed, and does not advance meanwhile', async () => {
    const store = await open(await makeDriver())
    const record = await store.journal('sbx_a')
    const [one, two] = [collector(), collector()]
    const added = await store.addSink('audit', one.sink)
    await record.append(numbered(1, 3))
    await store.flush()
    await added.close()
    expect(added.state.status).toBe('closed')
    await record.append(numbered(4, 6))
    await store.addSink('audit', two.sink)
    await store.flush()
    expect(one.items.map(messageOf)).toEqual(names(1, 3))
    expect(two.items.map(messageOf)).toEqual(names(4, 6))
  })

  it('stays before a batch that was not accepted', async () => {
    const driver = await makeDriver()
    const first = await open(driver, { closeMs: 50 })
    const broken = collector()
    broken.before = () => Promise.reject(new Error('receiver is down'))
    await first.addSink('audit', broken.sink, { types: ['log.*'] })
    await (await first.journal('sbx_a')).append(numbered(1, 3))
    await until(() => broken.tries.length > 0)
    await first.close()
    const second = await open(driver)
    const healthy = collector()
    await second.addSink('audit', healthy.sink, { types: ['log.*'] })
    await second.flush()
    expect(healthy.items.map(messageOf)).toEqual(names(1, 3))
  })
})

describe('sinks side by side', () => {
  it('do not wait for each other', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const [stuck, free] = [collector(), collector()]
    const gate = Promise.withResolvers<void>()
    stuck.before = () => gate.promise
    const slow = await store.addSink('stuck', stuck.sink)
    await store.addSink('free', free.sink)
    await record.append(numbered(1, 3))
    await until(() => free.items.length === 3)
    await record.append(numbered(4, 6))
    await until(() => free.items.length === 6)
    expect(stuck.items).toEqual([])
    expect(slow.state.lag).toBeGreaterThan(0)
    gate.resolve()
    await store.flush()
    expect(stuck.items.map(messageOf)).toEqual(names(1, 6))
  })

  it('need unique names: a second one is rejected, even if added concurrently', async () => {
    const store = await openMemory()
    const sinks = [collector(), collector()]
    const added = await Promise.allSettled(sinks.map(({ sink }) => store.addSink('audit', sink)))
    expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await thrownBy(() => store.addSink('audit', collector().sink))).toMatchObject({
      code: 'sink_exists',
      status: 409,
    })
    expect(store.sinks.map(({ name }) => name)).toEqual(['audit'])
  })

  it.each(['', undefined])('need a name, not %j', async (name) => {
    const store = await openMemory()
    expect(await thrownBy(() => store.addSink(name as string, collector().sink))).toMatchObject({
      code: 'argument_invalid',
    })
  })

  it('cannot be added to a closed store', async () => {
    const store = await openMemory()
    await store.close()
    expect(await thrownBy(() => store.addSink('audit', collector().sink))).toMatchObject({
      code: 'store_closed',
    })
  })

  it('reject types that are not an array', async () => {
    const store = await openMemory()
    const options = { types: 'file.*' as unknown as string[] }
    expect(await thrownBy(() => store.addSink('audit', collector().sink, options))).toMatchObject({
      code: 'argument_invalid',
    })
  })
})

describe('the state of a sink', () => {
  it('shows its kind, its lag, and when it has caught up', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const sink = collector()
    const gate = Promise.withResolvers<void>()
    sink.before = () => gate.promise
    const added = await store.addSink('audit', sink.sink)
    expect(added.name).toBe('audit')
    expect(added.state).toEqual({ name: 'audit', kind: 'collector', status: 'ok', lag: 0 })
    await record.append(numbered(1, 3))
    expect(added.state).toMatchObject({ status: 'ok', lag: 3 })
    await until(() => sink.tries.length === 1)
    await record.append(numbered(4, 5))
    expect(store.sinks).toEqual([expect.objectContaining({ name: 'audit', lag: 5 })])
    gate.resolve()
    await store.flush()
    expect(added.state).toEqual({ name: 'audit', kind: 'collector', status: 'ok', lag: 0 })
  })
})

describe('flush', () => {
  it('waits until every sink has received all appended events', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const seen: unknown[] = []
    await store.addSink(
      'slow',
      callbackSink(async (event) => {
        await new Promise(setImmediate)
        seen.push(messageOf(event))
      }),
    )
    void record.append(numbered(1, 20))
    await record.flush()
    expect(seen).toEqual(names(1, 20))
  })

  it('fails after its time limit with the name and error of the late sink', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const [stuck, broken, fine] = [collector(), collector(), collector()]
    const gate = Promise.withResolvers<void>()
    stuck.before = () => gate.promise
    broken.before = () => Promise.reject(new Error('no route to host'))
    await store.addSink('stuck-one', stuck.sink)
    await store.addSink('broken-one', broken.sink)
    await store.addSink('fine-one', fine.sink)
    await record.append(numbered(1, 3))
    await until(() => broken.tries.length > 0 && fine.items.length >= 4)
    const error = await thrownBy(() => store.flush({ timeoutMs: 50 }))
    expect(error).toMatchObject({ code: 'timeout' })
    expect(String(error)).toContain('stuck-one (slow)')
    expect(String(error)).toContain('broken-one (no route to host)')
    gate.resolve()
    broken.before = () => undefined
  })

  it('is rejected when its signal aborts', async () => {
    const store = await openMemory()
    const stuck = collector()
    const gate = Promise.withResolvers<void>()
    stuck.before = () => gate.promise
    await store.addSink('stuck', stuck.sink)
    await (await store.journal('sbx_a')).append(numbered(1, 1))
    const controller = new AbortController()
    const flushing = store.flush({ signal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await settled(flushing)).toEqual({ status: 'rejected', reason })
    gate.resolve()
  })

  it('does not wait for a sink that was closed', async () => {
    const store = await openMemory()
    const added = await store.addSink('audit', collector().sink)
    await added.close()
    await (await store.journal('sbx_a')).append(numbered(1, 1))
    await store.flush()
  })
})
