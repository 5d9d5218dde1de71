import { memoryStore, openStore } from '@vitrine/journal'
import { VitrineError } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { recordedTurn } from '../../src/handlers/recorded-turn.ts'

async function recorded(data: object) {
  await using store = await openStore(memoryStore())
  const journal = await store.journal('sbx_a')
  await journal.as({ source: 'agent', session: 'ses_1', turn: 'turn_1' }).append([
    { type: 'turn.started', data: {} },
    { type: 'turn.finished', data },
  ])
  return recordedTurn(journal, 'ses_1', 'turn_1')
}

it('gives the result of a turn without fields that it does not have', async () => {
  const result = await recorded({ outcome: 'ok', stopReason: 'end_turn' })
  expect(result?.()).toStrictEqual({ turn: 'turn_1', outcome: 'ok', stopReason: 'end_turn' })
})

it("throws the error of a failed turn with its own code's status and advice", async () => {
  const result = await recorded({
    outcome: 'failed',
    errorCode: 'session_closed',
    errorMessage: 'It is closed.',
  })
  const { status, hint } = new VitrineError('session_closed', '')
  expect(result).toThrow(
    expect.objectContaining({ code: 'session_closed', message: 'It is closed.', status, hint }),
  )
})
