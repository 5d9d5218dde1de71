import { memoryStore, openStore } from '@vitrine/journal'
import { VitrineError } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { interruptedPrompt, recordedResult } from '../../src/sessions/recorded-turn.ts'
import { RecordedTurns } from '../../src/sessions/recorded-turns.ts'

async function recorded(...events: readonly { type: string; data: object }[]) {
  const store = await openStore(memoryStore())
  const base = await store.journal('sbx_a')
  const journal = base.as({ source: 'agent', session: 'ses_1', turn: 'turn_1', actor: 'ada' })
  await journal.append(events.map(({ type, data }) => ({ type, data: { ...data } })))
  const turns = new RecordedTurns(journal)
  const queued = await turns.readAll()
  const record = turns.get('turn_1')
  const result = async () => recordedResult(journal, 'turn_1', record ?? { session: '', seq: 0 })
  return { store, base, record, queued, result }
}

const finished = (data: object) =>
  recorded({ type: 'turn.started', data: { promptHash: 'h' } }, { type: 'turn.finished', data })

it('gives the result of a turn without fields that it does not have', async () => {
  const { result, record } = await finished({ outcome: 'ok', stopReason: 'end_turn' })
  expect(await result()).toStrictEqual({ turn: 'turn_1', outcome: 'ok', stopReason: 'end_turn' })
  expect(record).toMatchObject({ session: 'ses_1', promptHash: 'h', state: 'finished' })
})

it("throws the error of a failed turn with its own code's status and advice", async () => {
  const { result } = await finished({
    outcome: 'failed',
    errorCode: 'session_closed',
    errorMessage: 'It is closed.',
  })
  const { status, hint } = new VitrineError('session_closed', '')
  await expect(result()).rejects.toThrow(
    expect.objectContaining({ code: 'session_closed', message: 'It is closed.', status, hint }),
  )
})

it.each([
  ['cancelled', { turn: 'turn_1', outcome: 'cancelled' }],
  ['closed', 'session_closed'],
  ['failed', 'agent_exited'],
  ['interrupted', 'interrupted'],
])('gives the end of a prompt that was dropped because it was %s', async (reason, expected) => {
  const { result, record } = await recorded(
    { type: 'prompt.queued', data: { position: 1 } },
    { type: 'prompt.dropped', data: { reason, errorCode: 'agent_exited', errorMessage: 'gone' } },
  )
  expect(record?.state).toBe(reason === 'cancelled' ? 'cancelled' : 'dropped')
  const end = await result().catch(({ code }: VitrineError) => code)
  expect(end).toEqual(expected)
})

it('ends a prompt that was queued once, for who asked, however often the record is read', async () => {
  const { base, queued } = await recorded({
    type: 'prompt.queued',
    data: { position: 1, promptHash: 'h', prompt: [{ type: 'text', text: 'hi' }] },
  })
  const events = await base.append(queued.map(interruptedPrompt))
  expect(events).toMatchObject([
    {
      type: 'prompt.dropped',
      session: 'ses_1',
      turn: 'turn_1',
      actor: 'ada',
      derived: true,
      data: { reason: 'interrupted', promptHash: 'h', prompt: [{ text: 'hi' }] },
    },
  ])
  expect(await new RecordedTurns(base).readAll()).toEqual([])
})
