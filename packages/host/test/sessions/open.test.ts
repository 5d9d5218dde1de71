import { expect, it } from 'vitest'
import {
  closeSharedSceneAfterAll,
  eventsOf,
  eventually,
  failure,
  open,
  promptForText,
  scene,
  sharedScene,
  unshared,
  until,
} from './fixture.ts'
import { marked } from './process-table.ts'

closeSharedSceneAfterAll()

const current = (session: { info: { options: readonly { id: string; current?: unknown }[] } }, id: string) =>
  session.info.options.find((option) => option.id === id)?.current

it('opens with the requested model, mode and thought level', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { model: 'sprinter', mode: 'auto', thoughtLevel: 'high' })
  expect(['model', 'mode', 'thought_level'].map((id) => current(session, id))).toEqual([
    'sprinter',
    'auto',
    'high',
  ])
  expect(await promptForText(sandbox, session, '/ask edit')).toBe('Allowed.')
  await session.setMode('plan')
  await session.setModel('storyteller')
  await session.setThoughtLevel('off')
  await session.setConfigOption('model', 'sprinter')
  expect(current(session, 'mode')).toBe('plan')
  expect(current(session, 'model')).toBe('sprinter')
  expect(await promptForText(sandbox, session, '/run true')).toContain('refused')
})

it('reports a mode that the agent chose itself', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  await session.prompt('/mode-change plan')
  expect(current(session, 'mode')).toBe('plan')
  await session.prompt('/title A new name')
  expect(session.info.title).toBe('A new name')
  const listed = (await sandbox.sessions.list()).find(({ id }) => id === session.id)
  expect(listed?.title).toBe('A new name')
})

it('starts the agent with its environment and working directory', async () => {
  const sandbox = await scene()
  await sandbox.files.mkdir('below')
  const session = await open(sandbox, { env: { GREETING: 'hello' }, cwd: 'below', mode: 'auto' })
  expect(session.info.cwd).toBe(`${sandbox.root}/below`)
  expect(await promptForText(sandbox, session, '/env GREETING')).toBe('GREETING is set, 5 characters.')
  await session.prompt('/run touch here')
  expect(await sandbox.files.exists('below/here')).toBe(true)
  const other = await open(sandbox, { cwd: `${sandbox.root}/below`, mode: 'auto' })
  await other.prompt('/write there.txt yes')
  expect(await sandbox.files.exists('below/there.txt')).toBe(true)
})

it('lists the known values when a model, mode, level or option is unknown', async () => {
  const sandbox = await sharedScene()
  const wrong = [
    { mode: 'yolo', says: 'ask, auto, plan' },
    { model: 'gpt-9', says: 'storyteller, sprinter' },
    { thoughtLevel: 'enormous', says: 'off, low, high' },
  ]
  for (const { says, ...options } of wrong) {
    const error = await failure(open(sandbox, options))
    expect(error).toMatchObject({ code: 'option_unknown' })
    expect(error.message).toContain('demo')
    expect(error.message).toContain(says)
  }
  const session = await open(sandbox)
  const error = await failure(session.setConfigOption('weather', 'sunny'))
  expect(error.code).toBe('option_unknown')
  expect(error.message).toContain('model, thought_level')
})

it.each([
  ['limits.totalMs', { limits: { totalMs: 2 ** 31 } }],
  ['limits.idleMs', { limits: { idleMs: 0 } }],
  ['limits.cancelMs', { limits: { cancelMs: Number.POSITIVE_INFINITY } }],
  ['queue', { queue: -1 }],
  ['restoreChars', { restoreChars: 0.5 }],
  ['cwd', { cwd: '../elsewhere' }],
  ['cwd', { cwd: '/etc' }],
])('refuses an invalid %s before anything starts: %j', async (name, options) => {
  const sandbox = await sharedScene()
  const error = await failure(open(sandbox, options))
  expect(error.code).toBe('argument_invalid')
  expect(error.message).toContain(`${name}: expected`)
  expect(await eventsOf(sandbox, 'agent.message')).toEqual([])
})

it('leaves nothing of a session that could not be opened, and its id is free', async () => {
  const sandbox = await scene()
  await failure(open(sandbox, { id: 'mine', mode: 'yolo' }))
  expect(await sandbox.sessions.list()).toEqual([])
  expect(await eventsOf(sandbox, 'agent.exited')).toHaveLength(1)
  await open(sandbox, { id: 'mine' })
})

it('ends the agent of a session that requires a login, and reports how to log in', async () => {
  const sandbox = await scene()
  const error = await failure(open(sandbox, { env: { VITRINE_DEMO_REQUIRE_KEY: '1' } }))
  expect(error.code).toBe('credentials_missing')
  expect(error.message).toContain('demo')
  expect(error.message).toContain('DEMO_API_KEY')
  await until(sandbox, 'agent.exited')
  const session = await open(sandbox, {
    env: { VITRINE_DEMO_REQUIRE_KEY: '1' },
    credentials: { DEMO_API_KEY: 'demo-key-of-twenty-characters' },
  })
  expect(await promptForText(sandbox, session, '/env DEMO_API_KEY')).toContain('is set')
})

it('lists its agents', async () => {
  const sandbox = await scene({ agents: [unshared('mine')] })
  const error = await failure(open(sandbox, { agent: 'nobody' }))
  expect(error.code).toBe('agent_unknown')
  expect(error.message).toContain('"nobody"')
  expect(error.message).toContain('mine')
  expect(error.message).toContain('demo')
})

it('refuses an id that is taken, also concurrently and after the session’s end', async () => {
  const sandbox = await sharedScene()
  const [first, second] = await Promise.allSettled([
    open(sandbox, { id: 'one' }),
    open(sandbox, { id: 'one' }),
  ])
  expect([first.status, second.status].sort()).toEqual(['fulfilled', 'rejected'])
  expect((first.status === 'rejected' ? first : (second as PromiseRejectedResult)).reason).toMatchObject({
    code: 'session_exists',
  })
  await (await sandbox.sessions.get('one')).close()
  expect(await failure(open(sandbox, { id: 'one' }))).toMatchObject({ code: 'session_exists' })
  expect(await failure(open(sandbox, { id: 'a b' }))).toMatchObject({ code: 'argument_invalid' })
})

it('lists, gets and resumes sessions', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { id: 'talk' })
  await session.prompt('/say one')
  expect(await sandbox.sessions.get('talk')).toBe(session)
  expect(await sandbox.sessions.resume('talk')).toBe(session)
  expect(await sandbox.sessions.list()).toMatchObject([{ id: 'talk', state: 'open', turns: 1, busy: false }])
  await session.close()
  expect(await failure(sandbox.sessions.get('talk'))).toMatchObject({ code: 'session_closed' })
  expect(await failure(sandbox.sessions.get('other'))).toMatchObject({ code: 'session_not_found' })
  expect(await failure(sandbox.sessions.resume('other'))).toMatchObject({ code: 'session_not_found' })
  const again = await sandbox.sessions.resume('talk', { env: { VITRINE_DEMO_PACE: '0' } })
  expect(again.info).toMatchObject({ id: 'talk', state: 'open', turns: 1, createdAt: session.info.createdAt })
  await again.prompt('/say two')
  expect(again.info.turns).toBe(2)
  expect(await eventsOf(sandbox, 'session.updated')).toMatchObject([{ data: { restored: 'resume' } }])
})

it('resumes with the options chosen last, not with those it was opened with', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { id: 'talk', mode: 'auto', model: 'sprinter' })
  await session.setMode('plan')
  await session.close()
  const again = await sandbox.sessions.resume('talk')
  expect(current(again, 'mode')).toBe('plan')
  expect(current(again, 'model')).toBe('sprinter')
})

it('resumes or creates one session for two concurrent calls', async () => {
  const sandbox = await scene()
  const wanted = { id: 'either', agent: 'demo', env: { VITRINE_DEMO_PACE: '0' } }
  const [created, same] = await Promise.all([
    sandbox.sessions.resumeOrCreate(wanted),
    sandbox.sessions.resumeOrCreate(wanted),
  ])
  expect(same).toBe(created)
  await created.prompt('/say here')
  await created.close()
  const [back, too] = await Promise.all([
    sandbox.sessions.resumeOrCreate(wanted),
    sandbox.sessions.resume('either', { env: wanted.env }),
  ])
  expect(too).toBe(back)
  expect(back.info.turns).toBe(1)
  expect(await eventsOf(sandbox, 'session.created')).toHaveLength(1)
})

it('lets sessions share a process, and closing one keeps the others', async () => {
  const sandbox = await scene()
  const first = await open(sandbox)
  const second = await open(sandbox)
  const apart = await open(sandbox, { env: { OTHER: 'yes' } })
  expect(await eventsOf(sandbox, 'agent.started')).toHaveLength(2)
  const running = second.prompt('/stall')
  await until(sandbox, 'turn.started')
  await first.close()
  expect(await eventsOf(sandbox, 'agent.exited')).toHaveLength(0)
  expect(second.info.busy).toBe(true)
  await second.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await promptForText(sandbox, second, '/say still here')).toBe('still here')
  await second.close()
  expect(await eventsOf(sandbox, 'agent.exited')).toMatchObject([{ data: { endedBy: 'host' } }])
  expect(await promptForText(sandbox, apart, '/say me too')).toBe('me too')
})

it('starts one process for sessions that are opened concurrently', async () => {
  const sandbox = await scene()
  await Promise.all([open(sandbox), open(sandbox), open(sandbox)])
  expect(await eventsOf(sandbox, 'agent.started')).toHaveLength(1)
})

it('stops opening when the signal aborts, and leaves no process', async () => {
  const sandbox = await scene()
  const before = await failure(open(sandbox, { signal: AbortSignal.abort() }))
  expect(before.code).toBe('cancelled')
  const mark = `slow-${crypto.randomUUID()}`
  const stopping = new AbortController()
  const opening = open(sandbox, {
    signal: stopping.signal,
    env: { VITRINE_DEMO_SLOW_START_MS: '60000', MARK: mark },
  })
  const failed = failure(opening)
  await until(sandbox, 'agent.started')
  stopping.abort()
  expect((await failed).code).toBe('cancelled')
  await eventually(() => marked(mark).length === 0)
  expect(await eventsOf(sandbox, 'agent.exited')).toHaveLength(1)
})

it('forks a session of an agent that supports it, and both continue independently', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { id: 'trunk', mode: 'auto' })
  await session.prompt('/say shared')
  await session.setMode('plan')
  const branch = await session.fork({ id: 'branch' })
  expect(current(branch, 'mode')).toBe('plan')
  expect(branch.info.agentSession).not.toBe(session.info.agentSession)
  expect(await promptForText(sandbox, branch, '/say apart')).toBe('apart')
  expect(await failure(session.fork({ id: 'trunk' }))).toMatchObject({ code: 'session_exists' })
  expect(await eventsOf(sandbox, 'session.created', { session: 'branch' })).toMatchObject([
    { data: { forkedFrom: 'trunk' } },
  ])
  await session.close()
  expect(await promptForText(sandbox, branch, '/say alive')).toBe('alive')
  expect(await failure(branch.fork({ id: 'trunk' }))).toMatchObject({ code: 'session_exists' })
})

it('records the actor and the run of a session on its events', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox.as({ run: 'run_1', actor: 'somebody' }))
  await session.prompt('/say hello')
  for (const type of ['session.created', 'turn.started', 'turn.finished']) {
    const [event] = await eventsOf(sandbox, type, { session: session.id })
    expect(event, type).toMatchObject({ run: 'run_1', actor: 'somebody' })
  }
})
