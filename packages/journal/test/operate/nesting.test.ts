import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { eventsOf, log, openMemory } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { operationsOf } from './operations.ts'

describe('an operation inside another', () => {
  it('is its child, even after awaiting and when several run concurrently', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    await record.operate('start', {}, async () => {
      await sleep(1)
      await Promise.all(
        ['a', 'b', 'c'].map(async (name) => {
          await new Promise(setImmediate)
          await record.operate(`child_${name}`, {}, async () => {
            await sleep(1)
            await record.operate(`grandchild_${name}`, {}, () => undefined)
          })
        }),
      )
    })
    const operations = await operationsOf(record)
    const idOf = (op: string) => operations.get(op)?.started.operation
    expect(operations.get('start')?.started.data.parent).toBeUndefined()
    for (const name of ['a', 'b', 'c']) {
      expect(operations.get(`child_${name}`)?.started.data.parent).toBe(idOf('start'))
      expect(operations.get(`grandchild_${name}`)?.started.data.parent).toBe(idOf(`child_${name}`))
    }
  })

  it('ends before the one around it', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    await record.operate('outer', {}, () => record.operate('inner', {}, () => undefined))
    const ops = (await eventsOf(record)).map(({ type, data }) => `${data.op} ${type.split('.')[1]}`)
    expect(ops).toEqual(['outer started', 'inner started', 'inner finished', 'outer finished'])
  })

  it('may fail without failing the one around it', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    await record.operate('outer', {}, async () => {
      await thrownBy(() => record.operate('inner', {}, () => Promise.reject(new Error('no'))))
    })
    const operations = await operationsOf(record)
    expect(operations.get('inner')?.finished.data.ok).toBe(false)
    expect(operations.get('outer')?.finished.data.ok).toBe(true)
  })

  it('is not its child if it is of another journal', async () => {
    const store = await openMemory()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    await a.as({ turn: 'turn_a' }).operate('outer', {}, () => b.operate('inner', {}, () => undefined))
    const inner = (await operationsOf(b)).get('inner')
    expect(inner?.started.data.parent).toBeUndefined()
    expect(inner?.started.turn).toBeUndefined()
  })

  it('is not the child of a concurrent operation', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    const both = Promise.withResolvers<void>()
    await Promise.all([
      record.operate('first', {}, () => both.promise),
      record.operate('second', {}, () => both.resolve()),
    ])
    const operations = await operationsOf(record)
    expect(operations.get('first')?.started.data.parent).toBeUndefined()
    expect(operations.get('second')?.started.data.parent).toBeUndefined()
  })
})

describe('an event that is appended inside an operation', () => {
  it('belongs to it; later events do not', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    let operation = ''
    await record.operate('exec', {}, async ({ id, progress }) => {
      operation = id
      await sleep(1)
      await record.append([log('inside')])
      await progress({ percent: 50 })
    })
    await record.append([log('after')])
    const [started, inside, progress, finished, after] = await eventsOf(record)
    expect(started?.operation).toBe(operation)
    expect(inside?.operation).toBe(operation)
    expect(inside?.trace).toEqual(started?.trace)
    expect(progress).toMatchObject({
      type: 'operation.progress',
      operation,
      data: { op: 'exec', percent: 50 },
    })
    expect(finished?.operation).toBe(operation)
    expect(after?.operation).toBeUndefined()
    expect(after?.trace).toBeUndefined()
  })

  it('the operation gets its own committed start', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    await record.operate('exec', { argv: ['ls'] }, ({ start }) => {
      expect(start).toMatchObject({ seq: 1, type: 'operation.started', data: { op: 'exec', argv: ['ls'] } })
      expect(Object.isFrozen(start.data)).toBe(true)
    })
  })
})

describe('the context of an operation', () => {
  it('applies to everything inside it', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    const context = { run: 'run_1', turn: 'turn_1', actor: 'ada', session: 'ses_1', sandbox: 'sbx_1' }
    await record.as(context).operate('outer', {}, async () => {
      await sleep(1)
      await record.operate('inner', {}, () => record.append([log('deep')]))
    })
    const events = await eventsOf(record)
    expect(events).toHaveLength(5)
    for (const event of events) expect(event).toMatchObject(context)
  })

  it('is changed by as() for that handle only', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    const ada = record.as({ actor: 'ada', turn: 'turn_1' })
    const bob = ada.as({ actor: 'bob' })
    await bob.operate('one', {}, () => undefined)
    await ada.operate('two', {}, () => bob.operate('three', {}, () => undefined))
    await record.operate('four', {}, () => undefined)
    const operations = await operationsOf(record)
    expect(operations.get('one')?.finished).toMatchObject({ actor: 'bob', turn: 'turn_1' })
    expect(operations.get('two')?.finished).toMatchObject({ actor: 'ada', turn: 'turn_1' })
    expect(operations.get('three')?.started).toMatchObject({ actor: 'bob', turn: 'turn_1' })
    expect(operations.get('four')?.started.actor).toBeUndefined()
  })

  it('takes fields of the event before those of its writer', async () => {
    const record = (await (await openMemory()).journal('sbx_a')).as({ turn: 'turn_1', actor: 'ada' })
    const [event] = await record.append([log('x', { turn: 'turn_2' })])
    expect(event).toMatchObject({ turn: 'turn_2', actor: 'ada' })
  })

  it('has a source that the writer sets and no caller can', async () => {
    const store = await openMemory()
    const engine = await store.journal('sbx_a', { source: 'engine' })
    const forged = { ...log('x'), source: 'user', seq: 99, journal: 'other', time: 'never' }
    const [event] = await engine.append([forged])
    expect(event).toMatchObject({ source: 'engine', seq: 1, journal: 'sbx_a' })
    await engine.operate('exec', { source: 'user' }, () => undefined)
    for (const { source } of await eventsOf(engine)) expect(source).toBe('engine')
  })
})
