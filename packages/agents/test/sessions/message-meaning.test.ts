import { expect, it } from 'vitest'
import { envelopeOf } from '../../src/bridge/envelope.ts'
import { ChosenOptions } from '../../src/sessions/chosen-options.ts'
import { MessageMeaning } from '../../src/sessions/interpret-message.ts'
import { PendingRequests } from '../../src/sessions/pending-requests.ts'
import { settleRules } from '../../src/sessions/permissions.ts'

function meanings() {
  const answers = new PendingRequests(settleRules('ask'))
  const session = { id: 'ses_1', agentSession: 'a', answers, context: { session: 'ses_1' }, turn: undefined }
  const options = new ChosenOptions()
  options.read({ modes: { currentModeId: 'one', availableModes: [{ id: 'one' }, { id: 'two' }] } })
  const meaning = new MessageMeaning(session, options, undefined)
  const hear = (update: object) => {
    const params = { sessionId: 'a', update }
    const envelope = envelopeOf({ jsonrpc: '2.0', method: 'session/update', params })
    if (envelope?.kind !== 'notification') throw new Error('Expected a notification.')
    return meaning.of(envelope, 'out', params, false)
  }
  return { meaning, options, answers, hear }
}

it('shows a title once it is on record', () => {
  const { meaning, hear } = meanings()
  const first = hear({ sessionUpdate: 'session_info_update', title: 'First' })
  const second = hear({ sessionUpdate: 'session_info_update', title: 'Second' })
  expect(meaning.title).toBeUndefined()
  expect([first.events, second.events]).toMatchObject([
    [{ type: 'session.updated', data: { title: 'First' } }],
    [{ type: 'session.updated', data: { title: 'Second' } }],
  ])
  first.onCommitted?.()
  expect(meaning.title).toBe('First')
  second.onCommitted?.()
  expect(meaning.title).toBe('Second')
})

it('shows what the agent chose itself once that is on record', () => {
  const { options, hear } = meanings()
  const { events, onCommitted: committed } = hear({
    sessionUpdate: 'current_mode_update',
    currentModeId: 'two',
  })
  expect(options.shown).toMatchObject([{ id: 'mode', current: 'one' }])
  expect(events).toMatchObject([{ data: { options: [{ id: 'mode', current: 'two' }] } }])
  committed?.()
  expect(options.shown).toMatchObject([{ id: 'mode', current: 'two' }])
})

it('tells who answered a permission when the answer could not be put on record', async () => {
  const { meaning, answers } = meanings()
  const params = {
    sessionId: 'a',
    toolCall: { kind: 'edit' },
    options: [{ optionId: 'y', kind: 'allow_once' }],
  }
  const asked = envelopeOf({ jsonrpc: '2.0', id: 1, method: 'session/request_permission', params })
  if (asked?.kind !== 'request') throw new Error('Expected a request.')
  meaning.of(asked, 'out', params, false)
  const answering = answers.respondPermission(answers.permissions[0]?.id ?? '', 'allow_once', 'code')
  const answer = envelopeOf({
    jsonrpc: '2.0',
    id: 1,
    result: { outcome: { outcome: 'selected', optionId: 'y' } },
  })
  if (answer?.kind !== 'response') throw new Error('Expected an answer.')
  meaning
    .ofAnswer('session/request_permission', answer, 'in')
    .onCommitFailed?.(new Error('The disk is gone.'))
  await expect(answering).rejects.toThrow('The disk is gone.')
})
