import { VitrineError } from '@vitrine/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryStore, type OpenStoreOptions, openStore } from '../../src/index.ts'
import { events, everything, finished, messages, note, started } from '../fixtures/events.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type ConnectionHooks, watched } from './watched.ts'

const full = () => new VitrineError('store_failing', 'The disk is full.')

describe('a commit that fails', () => {
  test('rejects only the appends of its batch when the error is not about the store', async () => {
    let fails = true
    const { store, journal } = await host({
      commit() {
        if (fails) throw new TypeError('a defect')
      },
    })
    const held = [journal.append([note('one')]), journal.append([note('two')])]
    for (const append of held) await expect(append).rejects.toThrow('a defect')
    fails = false
    expect(await journal.append([note('three')])).toMatchObject([{ seq: 1 }])
    expect(store.health).toEqual({ status: 'ok' })
    expect(store.lost.aborted).toBe(false)
    expect(await messages(journal)).toEqual(['three'])
    expect(await journal.verify()).toMatchObject({ ok: true })
  })

  test('leaves events appended meanwhile to the next commit', async () => {
    const gate = Promise.withResolvers<void>()
    let commits = 0
    const { journal } = await host({
      async commit() {
        commits += 1
        if (commits > 1) return
        await gate.promise
        throw new TypeError('a defect')
      },
    })
    const first = journal.append([note('one')])
    await eventually('the first commit is under way', () => commits === 1)
    const second = journal.append([note('two')])
    gate.resolve()
    await expect(first).rejects.toThrow('a defect')
    expect(await second).toMatchObject([{ seq: 1, data: { message: 'two' } }])
  })

  test('ends the store when it reports damage', async () => {
    const damage = new VitrineError('store_corrupt', 'The file is damaged.')
    const { store, journal } = await host({
      commit() {
        throw damage
      },
    })
    await expect(journal.append([note('one')])).rejects.toBe(damage)
    expect(store.lost.aborted).toBe(true)
    expect(store.lost.reason).toBe(damage)
    await expect(journal.append([note('two')])).rejects.toBe(damage)
  })
})

describe('a store that fails', () => {
  test('rejects new events, queues end events in order, and recovers by itself', async () => {
    const disk = { full: false }
    const { store, journal } = await host(onDisk(disk))
    for (const id of ['op_1', 'op_2', 'op_3']) await journal.append([started(id)])
    disk.full = true
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_failing' })
    const endings = ['op_2', 'op_3', 'op_1'].map((id) => journal.append([finished(id)]))
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_failing' })
    expect(store.health).toMatchObject({ status: 'failing', error: { code: 'store_failing' } })
    disk.full = false
    await Promise.all(endings)
    await eventually('the store is well again', () => store.health.status === 'ok')
    const ended = events(await everything(journal)).filter(({ type }) => type === 'operation.finished')
    expect(ended.map(({ operation }) => operation)).toEqual(['op_2', 'op_3', 'op_1'])
    expect(await journal.verify()).toMatchObject({ ok: true, events: 6 })
  })

  test('probes by itself whether it works again when nothing is queued', async () => {
    const disk = { full: true }
    const { store, journal } = await host(onDisk(disk))
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_failing' })
    disk.full = false
    await eventually('the store is well again', () => store.health.status === 'ok')
    expect(await journal.append([note('after')])).toMatchObject([{ seq: 1 }])
  })

  test('queues end events up to a limit', async () => {
    const disk = { full: false }
    const { store, journal } = await host(onDisk(disk), { maxPendingEndings: 2 })
    for (const id of ['op_1', 'op_2', 'op_3']) await journal.append([started(id)])
    disk.full = true
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_failing' })
    const kept = ['op_1', 'op_2'].map((id) => journal.append([finished(id)]))
    await expect(journal.append([finished('op_3')])).rejects.toMatchObject({ code: 'store_failing' })
    disk.full = false
    await Promise.all(kept)
    await eventually('the store is well again', () => store.health.status === 'ok')
    await journal.append([finished('op_3')])
  })

  test('recovers when the only queued end event belongs to work that never started', async () => {
    const disk = { full: true }
    const { store, journal } = await host(onDisk(disk))
    await expect(journal.append([started('op_1')])).rejects.toMatchObject({ code: 'store_failing' })
    const ending = journal.append([finished('op_1')])
    disk.full = false
    await expect(ending).rejects.toMatchObject({ code: 'work_not_open' })
    await eventually('the store is well again', () => store.health.status === 'ok')
    await journal.append([note('after')])
  })

  test('commits an end event that was appended during a probe', async () => {
    const disk = { full: false }
    const looking = Promise.withResolvers<void>()
    const look = Promise.withResolvers<void>()
    const { store, journal } = await host({
      ...onDisk(disk),
      async probe() {
        looking.resolve()
        await look.promise
      },
    })
    await journal.append([started('op_1')])
    disk.full = true
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_failing' })
    await looking.promise
    let ended = false
    const ending = journal.append([finished('op_1')]).then(() => {
      ended = true
    })
    disk.full = false
    look.resolve()
    await eventually('the ending is committed', () => ended)
    await ending
    expect(store.health.status).toBe('ok')
  })

  test('is lost when it turns out to be damaged', async () => {
    const disk = { full: true }
    const damage = new VitrineError('store_corrupt', 'The file is damaged.')
    const { store, journal } = await host({
      ...onDisk(disk),
      probe() {
        throw damage
      },
    })
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_failing' })
    await eventually('the store is lost', () => store.lost.aborted)
    await expect(journal.append([note('never')])).rejects.toBe(damage)
  })

  test('is lost when it was taken over meanwhile', async () => {
    const driver = memoryStore()
    const disk = { full: true }
    const store = await openStore(watched(driver, onDisk(disk)))
    onTestFinished(() => store.close())
    const journal = await store.journal('sbx_a')
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_failing' })
    const next = await openStore(driver, { takeover: true })
    onTestFinished(() => next.close())
    disk.full = false
    await eventually('the store is lost', () => store.lost.aborted)
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_fenced' })
  })
})

function onDisk(disk: { full: boolean }): ConnectionHooks {
  const write = () => {
    if (disk.full) throw full()
  }
  return { commit: write, probe: write }
}

async function host(hooks: ConnectionHooks, options?: OpenStoreOptions) {
  const store = await openStore(watched(memoryStore(), hooks), options)
  onTestFinished(() => store.close())
  return { store, journal: await store.journal('sbx_a') }
}
