import type { JournalEvent } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { allEvents, closeSharedSceneAfterAll, failure, open, scene, sharedScene } from './fixture.ts'

closeSharedSceneAfterAll()

const traceId = '1234567890abcdef1234567890abcdef'
const traceparent = `00-${traceId}-1234567890abcdef-01`

const ofTurn = async (sandbox: Parameters<typeof open>[0], turn: string): Promise<JournalEvent[]> =>
  (await allEvents(sandbox.journal)).filter((event) => event.turn === turn)

it('carries the actor, the run and the trace of whoever sent the prompt on every event of the turn', async () => {
  const sandbox = await scene()
  const session = await open(sandbox.as({ run: 'run_open', actor: 'opener' }), {
    permissions: { default: 'ask', allow: ['edit'] },
  })
  session.onEvent(({ type, data }) => {
    if (type === 'permission.requested')
      void session.respondPermission(String(data.permission), 'allow_once').catch(() => undefined)
    if (type === 'question.requested')
      void session.respondQuestion(String(data.question), { action: 'decline' })
  })
  const prompt = '/write a.txt hello\n/read a.txt\n/ask execute\n/question'
  const caller = { actor: 'ada', run: 'run_ada', traceparent }
  const { turn } = await session.prompt(prompt, { ...caller, turn: 'turn_ada' })
  await session.setMode('auto')
  await session.prompt('/run echo hi', { ...caller, turn: 'turn_run' })
  const events = [...(await ofTurn(sandbox, turn)), ...(await ofTurn(sandbox, 'turn_run'))]
  const types = new Set(events.map(({ type }) => type))
  expect([...types]).toEqual(
    expect.arrayContaining([
      ...['turn.started', 'turn.finished', 'agent.message', 'file.created'],
      ...['permission.requested', 'permission.resolved', 'question.requested', 'question.resolved'],
      ...['operation.started', 'operation.finished', 'process.started', 'process.exited'],
    ]),
  )
  for (const event of events)
    expect(event, event.type).toMatchObject({ actor: 'ada', run: 'run_ada', trace: { traceId } })

  const bob = await session.prompt('/say hi', { actor: 'bob', turn: 'turn_bob' })
  for (const event of await ofTurn(sandbox, bob.turn))
    expect(event, event.type).toMatchObject({ actor: 'bob', run: 'run_open' })
  await session.close()
  const own = (await allEvents(sandbox.journal, ['session.created', 'session.closed'])).filter(
    ({ session: id }) => id === session.id,
  )
  expect(own).toHaveLength(2)
  for (const event of own) expect(event).toMatchObject({ actor: 'opener', run: 'run_open' })
})

it('refuses a malformed traceparent', async () => {
  const session = await open(await sharedScene())
  const invalid = await failure(session.prompt('/say no', { traceparent: 'nonsense' }))
  expect(invalid).toMatchObject({ code: 'argument_invalid' })
  expect(invalid.message).toContain('traceparent')
})
