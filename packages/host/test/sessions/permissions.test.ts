import type { PermissionRules } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import {
  allEvents,
  closeSharedSceneAfterAll,
  eventsOf,
  failure,
  open,
  promptForText,
  scene,
  script,
  sharedScene,
  until,
} from './fixture.ts'

closeSharedSceneAfterAll()

it('asks by default, and records the source of the answer', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/ask edit')
  const { data } = await until(sandbox, 'permission.requested')
  expect(session.permissions).toMatchObject([
    { id: data.permission, toolCall: { kind: 'edit' }, options: [{ kind: 'allow_once' }, {}, {}, {}] },
  ])
  await session.respondPermission(String(data.permission), 'allow_once')
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([
    {
      data: { permission: data.permission, outcome: 'ok', answer: 'allow_once', option: 'allow', by: 'code' },
    },
  ])
  const { turn } = await running
  expect(data.permission).toBeDefined()
  expect((await allEvents(sandbox.journal, ['permission.*'])).map((event) => event.turn)).toEqual([
    turn,
    turn,
  ])
  expect(session.permissions).toEqual([])
})

it('accepts only the first of two answers', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/ask edit')
  const { data } = await until(sandbox, 'permission.requested')
  const id = String(data.permission)
  const unknown = await failure(session.respondPermission(id, { option: 'maybe' }))
  expect(unknown.code).toBe('option_unknown')
  expect(unknown.message).toContain('allow_once (allow)')
  expect(await failure(session.respondPermission(id, 'perhaps' as 'allow_once'))).toMatchObject({
    code: 'option_unknown',
  })
  const answers = await Promise.allSettled([
    session.respondPermission(id, { option: 'reject' }),
    session.respondPermission(id, 'allow_once'),
  ])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(answers[1]).toMatchObject({ reason: { code: 'permission_not_pending' } })
  await running
  expect(await failure(session.respondPermission(id, 'allow_once'))).toMatchObject({
    code: 'permission_not_pending',
  })
  expect(await failure(session.respondPermission('perm_never', 'allow_once'))).toMatchObject({
    code: 'permission_not_pending',
  })
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([{ data: { answer: 'reject_once' } }])
})

it.each<[string, 'ask' | 'allow' | 'deny' | PermissionRules, string, string]>([
  ['allow', 'allow', 'Allowed.', 'allow_once'],
  ['deny', 'deny', 'Rejected.', 'reject_once'],
  ['allow by kind', { allow: ['edit'] }, 'Allowed.', 'allow_once'],
  ['allowAlways by kind', { allowAlways: ['edit'] }, 'Allowed.', 'allow_always'],
  ['deny by kind', { default: 'allow', deny: ['edit'] }, 'Rejected.', 'reject_once'],
  [
    'deny counts more than allow',
    { allow: ['edit'], allowAlways: ['edit'], deny: ['edit'] },
    'Rejected.',
    'reject_once',
  ],
])('decides a permission by rule: %s', async (_name, permissions, said, answer) => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { permissions })
  expect(await promptForText(sandbox, session, '/ask edit')).toBe(said)
  expect(session.permissions).toEqual([])
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([
    { data: { outcome: 'ok', answer, by: 'rule' } },
  ])
})

it('asks for kinds that no rule names, and does not ask again after allow_always', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { permissions: { allowAlways: ['edit'] } })
  expect(await promptForText(sandbox, session, '/ask edit\n/ask edit')).toBe('Allowed.Allowed.')
  expect(await eventsOf(sandbox, 'permission.requested')).toHaveLength(1)
  const running = session.prompt('/ask execute')
  const { data } = await until(sandbox, 'permission.requested', (event) =>
    JSON.stringify(event.data).includes('execute'),
  )
  await session.respondPermission(String(data.permission), 'reject_always')
  await running
  expect(await promptForText(sandbox, session, '/ask execute')).toBe('Rejected.')
  expect(await eventsOf(sandbox, 'permission.requested')).toHaveLength(2)
})

it.each<[PermissionRules['onTimeout'], string, string]>([
  [undefined, 'reject_once', 'ok'],
  ['allow_once', 'allow_once', 'ok'],
  ['cancelled', 'cancelled', 'cancelled'],
])('answers a permission after its time limit: onTimeout %s', async (onTimeout, answer, outcome) => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { permissions: { timeoutMs: 20, ...(onTimeout && { onTimeout }) } })
  expect(await session.prompt('/ask edit')).toMatchObject({ outcome })
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([
    { data: { outcome: 'timeout', answer, by: 'timeout' } },
  ])
})

it('refuses invalid rules', async () => {
  const sandbox = await sharedScene()
  const yes = 'yes' as 'allow'
  expect(await failure(open(sandbox, { permissions: yes }))).toMatchObject({ code: 'argument_invalid' })
  expect(await failure(open(sandbox, { permissions: { timeoutMs: 0 } }))).toMatchObject({
    code: 'argument_invalid',
  })
})

it('asks for an unknown tool call', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { permissions: { allow: ['execute'] } })
  expect(await promptForText(sandbox, session, '/permission-first')).toBe('Allowed.')
  expect((await eventsOf(sandbox, 'turn.finished'))[0]?.data).not.toHaveProperty('closedToolCalls')
})

it('asks in the name of a child session, and records which', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/subagent')
  const { data, session: owner, turn } = await until(sandbox, 'permission.requested')
  expect(owner).toBe(session.id)
  expect(data.agentSession).toBe(`${session.info.agentSession}.child`)
  await session.respondPermission(String(data.permission), 'allow_once')
  expect(await running).toMatchObject({ turn, outcome: 'ok' })
})

it('knows which session asks when several share a process', async () => {
  const sandbox = await sharedScene()
  const [first, second] = [await open(sandbox), await open(sandbox)]
  const one = first.prompt('/ask edit')
  const two = second.prompt('/ask execute')
  await until(sandbox, 'permission.requested', ({ session }) => session === first.id)
  await until(sandbox, 'permission.requested', ({ session }) => session === second.id)
  expect(first.permissions).toMatchObject([{ toolCall: { kind: 'edit' } }])
  expect(second.permissions).toMatchObject([{ toolCall: { kind: 'execute' } }])
  await first.respondPermission(first.permissions[0]?.id ?? '', 'allow_once')
  await second.respondPermission(second.permissions[0]?.id ?? '', 'reject_once')
  await Promise.all([one, two])
})

it('asks no permission again when a session is restored', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { id: 'back' })
  const running = session.prompt('/ask edit')
  const { data } = await until(sandbox, 'permission.requested')
  await session.respondPermission(String(data.permission), 'allow_once')
  await running
  await session.close()
  const again = await sandbox.sessions.resume('back')
  await again.prompt('/say here')
  expect(again.permissions).toEqual([])
  expect(await eventsOf(sandbox, 'permission.requested')).toHaveLength(1)
})

it('cancels a pending permission when the session closes', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/ask edit')
  await until(sandbox, 'permission.requested')
  await session.close()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([{ data: { outcome: 'cancelled' } }])
})

it('chooses an option by kind, independent of ids and order', async () => {
  const odd = script(
    'odd',
    `on('session/prompt', async ({ id, sessionId, prompt }) => {
      const offered = JSON.parse(prompt[0].text)
      const toolCall = { toolCallId: 'x', title: 'x', kind: 'edit' }
      const answer = await ask('session/request_permission', { sessionId, toolCall, options: offered })
      say(sessionId, JSON.stringify(answer.result.outcome))
      reply(id, { stopReason: 'end_turn' })
    })`,
  )
  const sandbox = await scene({ agents: [odd] })
  const allowing = await sandbox.openSession({ agent: 'odd', permissions: 'allow' })
  const denying = await sandbox.openSession({ agent: 'odd', permissions: 'deny' })
  const option = (optionId: string, kind: string) => ({ optionId, name: optionId, kind })
  const both = JSON.stringify([
    option('A', 'allow_always'),
    option('B', 'reject_once'),
    option('C', 'allow_once'),
  ])
  expect(await promptForText(sandbox, allowing, both)).toContain('"C"')
  expect(await promptForText(sandbox, denying, both)).toContain('"B"')
  const never = JSON.stringify([option('A', 'allow_once'), option('N', 'reject_always')])
  expect(await promptForText(sandbox, denying, never)).toContain('"N"')
  const yes = JSON.stringify([option('A', 'allow_once')])
  expect(await promptForText(sandbox, denying, yes)).toContain('cancelled')
  const no = JSON.stringify([option('N', 'reject_once')])
  expect(await promptForText(sandbox, allowing, no)).toContain('cancelled')
})

it('cancels a permission after its time limit when the onTimeout option is not offered', async () => {
  const narrow = script(
    'narrow',
    `on('session/prompt', async ({ id, sessionId }) => {
      const toolCall = { toolCallId: 'x', kind: 'edit' }
      const { result } = await ask('session/request_permission', { sessionId, toolCall, options: [options[1]] })
      say(sessionId, result.outcome.outcome)
      reply(id, { stopReason: 'end_turn' })
    })`,
  )
  const sandbox = await scene({ agents: [narrow] })
  const permissions = { timeoutMs: 20, onTimeout: 'allow_once' } as const
  const session = await sandbox.openSession({ agent: 'narrow', permissions })
  expect(await promptForText(sandbox, session, 'go')).toBe('cancelled')
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([
    { data: { outcome: 'timeout', answer: 'cancelled', by: 'timeout' } },
  ])
})

it('cancels a permission that an agent did not wait for, within the turn', async () => {
  const hasty = script(
    'hasty',
    `on('session/prompt', ({ id, sessionId }) => {
      ask('session/request_permission', { sessionId, toolCall: { toolCallId: 'x', kind: 'edit' }, options })
      ask('elicitation/create', { sessionId, mode: 'form', message: 'Well?', requestedSchema: { type: 'object', properties: {} } })
      reply(id, { stopReason: 'end_turn' })
    })`,
  )
  const sandbox = await scene({ agents: [hasty] })
  const session = await sandbox.openSession({ agent: 'hasty' })
  expect(await session.prompt('go')).toMatchObject({ outcome: 'ok' })
  expect(session.permissions).toEqual([])
  expect(session.questions).toEqual([])
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([{ data: { outcome: 'cancelled' } }])
})

it('answers one request when an agent sends two with the same id', async () => {
  const twice = script(
    'twice',
    `on('session/prompt', async ({ id, sessionId }) => {
      const toolCall = { toolCallId: 'x', kind: 'edit' }
      const answer = ask('session/request_permission', { sessionId, toolCall, options }, 'same')
      const heard = []
      waiting.set('same', (message) => {
        heard.push(message)
        if (heard.length < 2) return
        say(sessionId, heard.map(({ error, result }) => error?.code ?? result.outcome.optionId).join())
        reply(id, { stopReason: 'end_turn' })
      })
      send({ id: 'same', method: 'session/request_permission', params: { sessionId, toolCall, options } })
    })`,
  )
  const sandbox = await scene({ agents: [twice] })
  const session = await sandbox.openSession({ agent: 'twice' })
  const running = session.prompt('go')
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('-32600'))
  expect(session.permissions).toHaveLength(1)
  await session.respondPermission(session.permissions[0]?.id ?? '', 'allow_once')
  const { turn } = await running
  const said = (await eventsOf(sandbox, 'agent.message', { turn }))
    .map(({ data }) => JSON.stringify(data))
    .join()
  expect(said).toContain('-32600,yes')
  expect(await eventsOf(sandbox, 'permission.requested')).toHaveLength(1)
})
