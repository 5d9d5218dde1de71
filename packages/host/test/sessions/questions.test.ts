import { expect, it } from 'vitest'

closeSharedSceneAfterAll()

import { closeSharedSceneAfterAll, eventsOf, failure, open, saidIn, sharedScene, until } from './fixture.ts'

it.each([
  [
    { action: 'accept', content: { name: 'Vitrine', colour: 'plum' } },
    'accept: {"name":"Vitrine","colour":"plum"}',
  ],
  [{ action: 'decline' }, 'decline'],
  [{ action: 'cancel' }, 'cancel'],
] as const)('passes the answer to a question to the agent: %j', async (answer, said) => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/question')
  const { data } = await until(sandbox, 'question.requested')
  expect(session.questions).toMatchObject([
    { id: data.question, mode: 'form', schema: { required: ['name', 'colour'] } },
  ])
  await session.respondQuestion(String(data.question), answer)
  const { turn } = await running
  expect(await saidIn(sandbox, { turn })).toBe(`The answer is ${said}.`)
  expect(await eventsOf(sandbox, 'question.resolved')).toMatchObject([
    { turn, data: { question: data.question, outcome: 'ok', by: 'code', ...answer } },
  ])
  expect(await failure(session.respondQuestion(String(data.question), answer))).toMatchObject({
    code: 'question_not_pending',
  })
})

it('answers a question after its time limit', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { permissions: { timeoutMs: 20 } })
  await session.prompt('/question')
  expect(await eventsOf(sandbox, 'question.resolved')).toMatchObject([
    { data: { outcome: 'timeout', action: 'cancel', by: 'timeout' } },
  ])
})

it.each([
  [{ action: 'accept' }, 'Allowed.'],
  [{ action: 'accept', content: { choice: 'allow-always' } }, 'Allowed.'],
  [{ action: 'decline' }, 'Rejected.'],
] as const)('asks for the approval of a plan as a question: %j', async (answer, said) => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/ask switch_mode')
  const { data } = await until(sandbox, 'question.requested')
  expect(data).toMatchObject({ about: 'plan', schema: { required: ['choice'] } })
  const unknown = { action: 'accept', content: { choice: 'whatever' } } as const
  expect(await failure(session.respondQuestion(String(data.question), unknown))).toMatchObject({
    code: 'option_unknown',
  })
  await session.respondQuestion(String(data.question), answer)
  const { turn } = await running
  expect(await saidIn(sandbox, { turn })).toBe(said)
  expect(await eventsOf(sandbox, 'permission.requested')).toEqual([])
})

it('approves a plan by rule as any other permission', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { permissions: 'allow' })
  const { turn } = await session.prompt('/ask switch_mode')
  expect(await saidIn(sandbox, { turn })).toBe('Allowed.')
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([{ data: { by: 'rule' } }])
})
