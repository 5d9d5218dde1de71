import { expect, it } from 'vitest'
import { rpcEnvelopeOf } from '../../src/bridge/rpc-envelope.ts'
import { ChosenOptions } from '../../src/sessions/chosen-options.ts'
import { MessageInterpreter } from '../../src/sessions/interpret-message.ts'
import { PendingRequests } from '../../src/sessions/pending-requests.ts'
import { completeRules } from '../../src/sessions/permissions.ts'
import { ReportedUsage } from '../../src/sessions/reported-usage.ts'

function createInterpreter() {
  const answers = new PendingRequests(completeRules('ask'))
  const session = {
    ...{ id: 'ses_1', agentSession: 'a', answers, context: { session: 'ses_1' }, turn: undefined },
    reported: new ReportedUsage(),
  }
  const options = new ChosenOptions()
  options.read({ modes: { currentModeId: 'one', availableModes: [{ id: 'one' }, { id: 'two' }] } })
  const interpreter = new MessageInterpreter(session, options, undefined)
  const receive = (update: object) => {
    const params = { sessionId: 'a', update }
    const envelope = rpcEnvelopeOf({ jsonrpc: '2.0', method: 'session/update', params })
    if (envelope?.kind !== 'notification') throw new Error('Expected a notification.')
    return interpreter.interpret(envelope, 'out', params, 'live')
  }
  return { interpreter, options, answers, receive }
}

it('shows a new title only after it is committed', () => {
  const { interpreter, receive } = createInterpreter()
  const first = receive({ sessionUpdate: 'session_info_update', title: 'First' })
  const second = receive({ sessionUpdate: 'session_info_update', title: 'Second' })
  expect(interpreter.title).toBeUndefined()
  expect([first.events, second.events]).toMatchObject([
    [{ type: 'session.updated', data: { title: 'First' } }],
    [{ type: 'session.updated', data: { title: 'Second' } }],
  ])
  first.onCommitted?.()
  expect(interpreter.title).toBe('First')
  second.onCommitted?.()
  expect(interpreter.title).toBe('Second')
})

it('shows an option that the agent changed only after the change is committed', () => {
  const { options, receive } = createInterpreter()
  const { events, onCommitted } = receive({
    sessionUpdate: 'current_mode_update',
    currentModeId: 'two',
  })
  expect(options.recorded).toMatchObject([{ id: 'mode', current: 'one' }])
  expect(events).toMatchObject([{ data: { options: [{ id: 'mode', current: 'two' }] } }])
  onCommitted?.()
  expect(options.recorded).toMatchObject([{ id: 'mode', current: 'two' }])
})

it('rejects respondPermission when the response cannot be committed', async () => {
  const { interpreter, answers } = createInterpreter()
  const params = {
    sessionId: 'a',
    toolCall: { kind: 'edit' },
    options: [{ optionId: 'y', kind: 'allow_once' }],
  }
  const request = rpcEnvelopeOf({ jsonrpc: '2.0', id: 1, method: 'session/request_permission', params })
  if (request?.kind !== 'request') throw new Error('Expected a request.')
  interpreter.interpret(request, 'out', params, 'live')
  const responding = answers.respondPermission(answers.permissions[0]?.id ?? '', 'allow_once', { by: 'code' })
  const response = rpcEnvelopeOf({
    jsonrpc: '2.0',
    id: 1,
    result: { outcome: { outcome: 'selected', optionId: 'y' } },
  })
  if (response?.kind !== 'response') throw new Error('Expected a response.')
  interpreter
    .interpretResponse('session/request_permission', response, 'in')
    .onCommitFailed?.(new Error('The disk is gone.'))
  await expect(responding).rejects.toThrow('The disk is gone.')
})
