import { describe, expect, it } from 'vitest'
import { eventsOf, open, openMemory } from '../fixtures/open.ts'
import { thrownBy, until } from '../fixtures/until.ts'
import { diskFull, flakyStore, noTrouble } from './flaky-store.ts'
import { onlyOperation } from './operations.ts'

describe('an operation that cannot be recorded', () => {
  it('does not run when the store rejects its start', async () => {
    const driver = flakyStore()
    const store = await open(driver)
    const record = await store.journal('sbx_a')
    driver.trouble = diskFull
    let runs = 0
    for (let count = 0; count < 2; count += 1) {
      const error = await thrownBy(() => record.operate('exec', {}, () => (runs += 1)))
      expect(error).toMatchObject({ code: 'store_failing', status: 507 })
    }
    expect(runs).toBe(0)
    driver.trouble = noTrouble
    await until(() => store.health.status === 'ok')
    expect(await eventsOf(record)).toEqual([])
    await record.operate('exec', {}, () => (runs += 1))
    expect(runs).toBe(1)
  })

  it('does not run when the store is closed', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    await store.close()
    let ran = false
    const error = await thrownBy(() => record.operate('exec', {}, () => (ran = true)))
    expect(error).toMatchObject({ code: 'store_closed' })
    expect(ran).toBe(false)
  })

  it.each(['', 'Exec', 'rm -rf', 'a.b', '1st'])('does not run under the op %j', async (op) => {
    const record = await (await openMemory()).journal('sbx_a')
    let ran = false
    const error = await thrownBy(() => record.operate(op, {}, () => (ran = true)))
    expect(error).toMatchObject({ code: 'event_invalid' })
    expect(ran).toBe(false)
    expect(await eventsOf(record)).toEqual([])
  })
})

describe('the end of an operation', () => {
  it('is committed before the call resolves', async () => {
    const driver = flakyStore()
    const store = await open(driver)
    const record = await store.journal('sbx_a')
    const gate = Promise.withResolvers<undefined>()
    const order: string[] = []
    driver.trouble = async ({ entries }) => {
      if (entries.some(({ event }) => event.type === 'operation.finished')) {
        order.push('finish arrives at the store')
        await gate.promise
        order.push('finish is committed')
      }
      return undefined
    }
    const call = record.operate('exec', {}, () => order.push('ran')).then(() => order.push('resolved'))
    await until(() => order.includes('finish arrives at the store'))
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    expect(order).toEqual(['ran', 'finish arrives at the store'])
    gate.resolve(undefined)
    await call
    expect(order).toEqual(['ran', 'finish arrives at the store', 'finish is committed', 'resolved'])
  })

  it('is committed before the call rejects', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    const call = record.operate('exec', {}, () => Promise.reject(new Error('no')))
    await thrownBy(() => call)
    expect(record.head.seq).toBe(2)
  })

  it('waits for a full disk: the result is returned once the end is committed', async () => {
    const driver = flakyStore()
    const store = await open(driver)
    const record = await store.journal('sbx_a')
    let resolved = false
    const call = record
      .operate('exec', {}, () => {
        driver.trouble = diskFull
        return 'done'
      })
      .finally(() => {
        resolved = true
      })
    await until(() => store.health.status === 'failing')
    expect(resolved).toBe(false)
    driver.trouble = noTrouble
    expect(await call).toBe('done')
    expect((await onlyOperation(record)).finished.data.outcome).toBe('ok')
  })
})
