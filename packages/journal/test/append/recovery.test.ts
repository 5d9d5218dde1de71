import { describe, expect, it } from 'vitest'
import { memoryStore, openStore } from '../../src/index.ts'
import { open } from '../fixtures/open.ts'

describe('a store opens after a crash', () => {
  it('recovers when a secret has masked data of the open work', async () => {
    const driver = memoryStore()
    const store = await openStore(driver)
    store.addSecret('PASSWORD', 'exec')
    const journal = await store.journal('sbx_a')
    const running = new Promise<void>((started) => {
      journal.operate('exec', {}, () => new Promise(() => started())).catch(() => undefined)
    })
    await running
    const again = await open(driver, { takeover: true })
    const { events } = await (await again.journal('sbx_a')).read()
    expect(events.map(({ type }) => type)).toEqual([
      'operation.started',
      'operation.finished',
      'journal.recovered',
    ])
  })

  it('recovers when secrets were registered after the start was written', async () => {
    const driver = memoryStore()
    const token = `ghp_${'a1B2'.repeat(9)}`
    const store = await openStore(driver, { patterns: false })
    const journal = await store.journal('sbx_a')
    await journal.append([
      { type: 'permission.requested', data: { permission: token } },
      { type: 'run.started', run: token, data: {} },
    ])
    const again = await open(driver, { takeover: true })
    const { events } = await (await again.journal('sbx_a')).read()
    expect(events.filter(({ type }) => /resolved|finished/.test(type))).toHaveLength(2)
  })
})
