import { memoryStore, openStore } from '@vitrine/journal'
import { expect, it } from 'vitest'
import { IdFilter } from '../../src/sessions/id-filter.ts'
import { RecordedTurns } from '../../src/sessions/recorded-turns.ts'

const ids = Array.from({ length: 50 }, (_id, index) => `turn_${index}`)
const started = (turn: string) => ({ type: 'turn.started', turn, data: { promptHash: `hash of ${turn}` } })
const finished = (turn: string) => ({ type: 'turn.finished', turn, data: { outcome: 'ok' } })

async function journalOf(events: readonly { type: string; turn: string; data: object }[]) {
  const store = await openStore(memoryStore())
  const journal = await store.journal('sbx_a', { source: 'host', session: 'ses_1' })
  await journal.append(events.map(({ data, ...event }) => ({ ...event, data: { ...data } })))
  return journal
}

it('knows every turn of a journal with a few of them in memory', async () => {
  const journal = await journalOf(ids.flatMap((turn) => [started(turn), finished(turn)]))
  const turns = new RecordedTurns(journal, { max: 10 })
  await turns.readAll()
  expect(turns.size).toBe(10)
  for (const [index, turn] of ids.entries()) {
    await turns.load(turn)
    expect(turns.get(turn)).toEqual({
      session: 'ses_1',
      promptHash: `hash of ${turn}`,
      state: 'finished',
      seq: 2 * index + 2,
    })
  }
  expect(turns.size).toBe(10)
})

it('knows a turn that ran longer than others stay in memory', async () => {
  const others = ids.flatMap((turn) => [started(turn), finished(turn)])
  const journal = await journalOf([started('turn_long'), ...others, finished('turn_long')])
  const turns = new RecordedTurns(journal, { max: 10 })
  await turns.readAll()
  await turns.load('turn_long')
  expect(turns.get('turn_long')).toMatchObject({ state: 'finished', promptHash: 'hash of turn_long' })
})

it('reads nothing for a turn that is new or in memory', async () => {
  const turns = new RecordedTurns(await journalOf(ids.map(started)), { max: 10 })
  await turns.readAll()
  expect(turns.load('turn_49')).toBeUndefined()
  expect(turns.load('turn_new')).toBeUndefined()
  expect(turns.load('turn_4')).toBeInstanceOf(Promise)
})

it('keeps the order of callers while a turn is read', async () => {
  const turns = new RecordedTurns(await journalOf(ids.map(started)), { max: 10 })
  await turns.readAll()
  const order: string[] = []
  const load = async (turn: string) => {
    const loading = turns.load(turn)
    if (loading !== undefined) await loading
    order.push(turn)
  }
  await Promise.all(['turn_1', 'turn_new', 'turn_2', 'turn_49'].map(load))
  expect(order).toEqual(['turn_1', 'turn_new', 'turn_2', 'turn_49'])
  expect(turns.load('turn_new')).toBeUndefined()
})

it('a filter of ids has all that were added, and hardly any other', () => {
  const filter = new IdFilter()
  expect(filter.mayHave('0')).toBe(false)
  for (let id = 0; id < 20_000; id += 1) filter.add(String(id))
  const counts = { added: 0, others: 0 }
  for (let id = 0; id < 20_000; id += 1) {
    if (filter.mayHave(String(id))) counts.added += 1
    if (filter.mayHave(`other ${id}`)) counts.others += 1
  }
  expect(counts.added).toBe(20_000)
  expect(counts.others).toBeLessThan(20)
})
