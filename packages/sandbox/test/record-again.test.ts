import { memoryStore, openStore } from '@vitrine/journal'
import { expect, it, onTestFinished } from 'vitest'
import { RecordedBatches } from '../src/engine/recorded-batches.ts'

const message = (text: string) => ({ type: 'log.message', data: { level: 'info', message: text } })

async function newJournal() {
  const store = await openStore(memoryStore())
  onTestFinished(() => store.close())
  const journal = await store.journal('sbx_a')
  const count = async () => (await journal.read({ types: ['log.message'], limit: 1_000 })).events.length
  /** As a later host sees the journal. */
  const batches = (max?: number) =>
    new RecordedBatches(journal, (text) => store.keyedHash(text), max === undefined ? {} : { max })
  return { store, journal, count, batches }
}

it('a later host does not append events that an earlier one has recorded under their id', async () => {
  const { journal, count, batches } = await newJournal()
  await batches().append(journal, 'rec_1', [message('once')])
  await batches().append(journal, 'rec_1', [message('once')])
  expect(await count()).toBe(1)
  await expect(batches().append(journal, 'rec_1', [message('other')])).rejects.toMatchObject({
    code: 'record_exists',
  })
})

it('an id is found that is too old to be in memory', async () => {
  const { journal, count, batches } = await newJournal()
  const recorded = batches(3)
  const ids = Array.from({ length: 10 }, (_, index) => `rec_${index}`)
  for (const id of ids) await recorded.append(journal, id, [message(id)])
  for (const id of ids) await recorded.append(journal, id, [message(id)])
  for (const id of ids) await batches(3).append(journal, id, [message(id)])
  expect(await count()).toBe(10)
})

it('events are the same although a secret in them is masked on record', async () => {
  const { store, journal, count, batches } = await newJournal()
  store.addSecret('KEY', 'correct-horse-battery')
  const events = [message('the key is correct-horse-battery')]
  await batches().append(journal, 'rec_1', events)
  await batches().append(journal, 'rec_1', events)
  expect(await count()).toBe(1)
})

it('events whose key is lost are taken for the same', async () => {
  const { journal, count, batches } = await newJournal()
  await batches().append(journal, 'rec_1', [message('once')])
  const later = new RecordedBatches(journal, () => 'otherkey:otherhash')
  await later.append(journal, 'rec_1', [message('once')])
  expect(await count()).toBe(1)
})
