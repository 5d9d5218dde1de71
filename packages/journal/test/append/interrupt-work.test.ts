import { memoryStore, openStore } from '@vitrine/journal'
import { expect, onTestFinished, test } from 'vitest'

async function openJournal() {
  const store = await openStore(memoryStore())
  onTestFinished(() => store.close())
  return store.journal('sbx_1')
}

const start = (run: string) => ({ type: 'run.started', run, data: {} })
const end = (run: string) => ({ type: 'run.finished', run, data: { outcome: 'ok' } })

test('interruptWork ends open work of the given kinds, and no other', async () => {
  const journal = await openJournal()
  await journal.append([start('run_1'), end('run_1')])
  await journal.append([start('run_2'), { type: 'turn.started', turn: 'turn_1', run: 'run_2', data: {} }])
  await journal.interruptWork(['run', 'loop'], 'Its sandbox was destroyed.')
  const { events } = await journal.read({ types: ['run.finished', 'turn.finished'] })
  expect(events).toMatchObject([
    { run: 'run_1', data: { outcome: 'ok' } },
    {
      run: 'run_2',
      derived: true,
      data: { outcome: 'interrupted', errorMessage: 'Its sandbox was destroyed.' },
    },
  ])
})

test('interruptWork ends work that is being started, and leaves the end of work that ends meanwhile', async () => {
  const journal = await openJournal()
  await journal.append([start('run_1')])
  const starting = journal.append([start('run_2')])
  const interrupting = journal.interruptWork(['run'], 'Removed.')
  const ending = journal.append([end('run_1')])
  await Promise.all([starting, interrupting, ending])
  const { events } = await journal.read({ types: ['run.finished'] })
  expect(events).toMatchObject([
    { run: 'run_1', data: { outcome: 'ok' } },
    { run: 'run_2', data: { outcome: 'interrupted' } },
  ])
})
