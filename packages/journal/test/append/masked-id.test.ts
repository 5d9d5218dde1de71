import { expect, it } from 'vitest'
import { openStore } from '../../src/index.ts'
import { sqliteFile, stores } from '../fixtures/open.ts'

it.each(stores)(
  'work of a %s store ends once, though its id became a secret while it was open',
  async (_kind, open) => {
    const store = await open()
    const journal = await store.journal('sbx_a')
    await journal.append([
      { type: 'run.started', run: 'nightly-7731', data: {} },
      { type: 'process.started', data: { process: 'p-7731' } },
    ])
    store.addSecret('PIN', '7731')
    const ends = [
      { type: 'run.finished', run: 'nightly-7731', data: { outcome: 'ok' } },
      { type: 'process.exited', data: { process: 'p-7731', outcome: 'ok', exitCode: 0 } },
    ]
    const committed = await journal.append(ends)
    expect(JSON.stringify(committed)).not.toContain('7731')
    await expect(journal.append(ends)).rejects.toMatchObject({ code: 'work_not_open' })
  },
)

it('the next owner does not close work again that ended under a masked id', async () => {
  const driver = await sqliteFile()
  {
    await using store = await openStore(driver)
    const journal = await store.journal('sbx_a')
    await journal.append([{ type: 'run.started', run: 'nightly-7731', data: {} }])
    store.addSecret('PIN', '7731')
    await journal.append([{ type: 'run.finished', run: 'nightly-7731', data: { outcome: 'ok' } }])
  }
  await using again = await openStore(driver)
  const { events } = await (await again.journal('sbx_a')).read()
  expect(events.map(({ type }) => type)).toEqual(['run.started', 'run.finished'])
})
