import { mkdtempSync, rmSync } from 'node:fs'
import { local } from '@vitrine/sandbox'
import { expect, it, onTestFinished } from 'vitest'
import { openHost } from '../../src/index.ts'
import {
  closeSharedSceneAfterAll,
  eventsOf,
  eventually,
  failure,
  open,
  promptForText,
  scene,
  script,
  sharedScene,
  until,
} from './fixture.ts'
import { isRunning } from './process-table.ts'

closeSharedSceneAfterAll()

const models = `models: { availableModels: [{ modelId: 'a', name: 'A' }, { modelId: 'b', name: 'B' }], currentModelId: 'a' }`
const permission = (id: string) =>
  `ask('session/request_permission', { sessionId: ${id}, toolCall: { toolCallId: 'x', kind: 'execute' }, options })`

it('resolves requests of a closed session as cancelled, without another session deciding them', async () => {
  // It works on after the cancel, and asks when the other session is prompted.
  const late = {
    ...script(
      'late',
      `const ids = []
      on('initialize', ({ id }) => reply(id, { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { close: {} } } }))
      on('session/new', ({ id }) => { ids.push('s' + ids.length); reply(id, { sessionId: ids.at(-1) }) })
      on('session/close', ({ id }) => reply(id, {}))
      on('session/prompt', async ({ id, sessionId }) => {
        if (sessionId === ids[0]) return update(ids[0] + '.child', { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'busy now' } })
        const answers = [await ${permission('ids[0]')}, await ${permission("ids[0] + '.child'")}]
        say(sessionId, answers.map(({ result }) => result.outcome.outcome).join())
        reply(id, { stopReason: 'end_turn' })
      })`,
    ),
    shared: true,
  }
  const sandbox = await scene({ agents: [late] })
  const first = await sandbox.openSession({ agent: 'late', permissions: 'deny' })
  const second = await sandbox.openSession({ agent: 'late', permissions: 'allow' })
  const running = first.prompt('work')
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('busy now'))
  await first.close()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await promptForText(sandbox, second, 'go')).toBe('cancelled,cancelled')
  expect(await eventsOf(sandbox, 'permission.requested')).toEqual([])
})

it('closes a session whose agent ignores the cancel, and keeps the process for other sessions if it can', async () => {
  const stubborn = {
    ...script(
      'stubborn',
      `on('initialize', ({ id }) => reply(id, { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { close: {} } } }))
      on('session/close', ({ id }) => reply(id, {}))
      on('session/prompt', ({ id, sessionId, prompt }) => {
        if (prompt[0].text !== 'stay') reply(id, { stopReason: 'end_turn' })
        say(sessionId, 'here')
      })`,
    ),
    shared: true,
  }
  const sandbox = await scene({ agents: [stubborn] })
  const first = await sandbox.openSession({ agent: 'stubborn' })
  const second = await sandbox.openSession({ agent: 'stubborn' })
  const running = first.prompt('stay')
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('"here"'))
  await first.close()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await second.prompt('go')).toMatchObject({ outcome: 'ok' })
  expect(await eventsOf(sandbox, 'agent.exited')).toEqual([])
  expect(await eventsOf(sandbox, 'limit.reached')).toEqual([])
})

it('ends a process that ignores the cancel and cannot close a session, and reports it', async () => {
  const stubborn = {
    ...script('stubborn', `on('session/prompt', ({ sessionId }) => say(sessionId, 'here'))`),
    shared: true,
  }
  const sandbox = await scene({ agents: [stubborn] })
  const first = await sandbox.openSession({ agent: 'stubborn' })
  await sandbox.openSession({ agent: 'stubborn' })
  const running = first.prompt('stay')
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('"here"'))
  await first.close()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await eventsOf(sandbox, 'limit.reached')).toMatchObject([{ data: { limit: 'session.closeMs' } }])
})

it('resolves requests from outside of a turn when it closes', async () => {
  const eager = script(
    'eager',
    `on('session/new', ({ id }) => { reply(id, { sessionId: 's' }); ${permission("'s'")} })`,
  )
  const sandbox = await scene({ agents: [eager] })
  const session = await sandbox.openSession({ agent: 'eager' })
  const { data } = await until(sandbox, 'permission.requested')
  await session.close()
  expect(session.permissions).toEqual([])
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([
    { data: { permission: data.permission, outcome: 'cancelled', by: 'close' } },
  ])
  expect(await failure(session.respondPermission(String(data.permission), 'allow_once'))).toMatchObject({
    code: 'permission_not_pending',
  })
})

it('resolves requests from outside of a turn although the agent does not read', async () => {
  const deaf = script(
    'deaf',
    `on('session/new', ({ id }) => {
      reply(id, { sessionId: 's' })
      lines.pause()
      process.stdin.pause()
      ${permission("'s'")}
      send({ id: 'big', method: 'fs/read_text_file', params: { sessionId: 's', path: 'big' } })
      setInterval(() => {}, 1000)
    })`,
  )
  const sandbox = await scene({ agents: [deaf] })
  await sandbox.files.write('big', 'x'.repeat(1024 * 1024))
  const session = await sandbox.openSession({ agent: 'deaf' })
  await until(
    sandbox,
    'agent.message',
    ({ data }) => JSON.stringify(data).includes('"in"') && JSON.stringify(data).includes('"big"'),
  )
  await session.close()
  expect(session.permissions).toEqual([])
  expect(await eventsOf(sandbox, 'permission.resolved')).toHaveLength(1)
})

it('stops opening a session whose agent hangs while options are set, when the sandbox closes', async () => {
  const data = mkdtempSync('/var/tmp/vitrine-test-')
  const hangs = script(
    'hangs',
    `on('session/new', ({ id }) => reply(id, { sessionId: 's' + process.pid, ${models} }))`,
  )
  const host = await openHost({
    data,
    providers: [local({ isolation: 'none' })],
    install: 'never',
    agents: [hangs],
  })
  onTestFinished(async () => {
    await host.close()
    rmSync(data, { recursive: true, force: true })
  })
  const sandbox = await host.create()
  const opening = failure(sandbox.openSession({ agent: 'hangs', model: 'b' }))
  const { data: started } = await until(sandbox, 'agent.started')
  await until(sandbox, 'agent.message', (event) => JSON.stringify(event.data).includes('session/set_model'))
  await sandbox.close()
  expect(await opening).toMatchObject({ code: 'cancelled' })
  expect(isRunning(Number(started.pid))).toBe(false)
})

it('stops a fork that hangs when the sandbox ends its sessions', async () => {
  const hangs = script(
    'hangs',
    `on('initialize', ({ id }) => reply(id, { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { fork: {} } } }))`,
  )
  const sandbox = await scene({ agents: [hangs] })
  const session = await sandbox.openSession({ agent: 'hangs' })
  const forking = failure(session.fork())
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('session/fork'))
  await sandbox.sessions.endAll('enough')
  expect(await forking).toMatchObject({ code: 'cancelled' })
})

it('closes a session whose restarted agent hangs while options are reapplied', async () => {
  const hangs = script(
    'hangs',
    `import { existsSync, writeFileSync } from 'node:fs'
    const back = existsSync('back')
    on('session/new', ({ id }) => reply(id, { sessionId: 's', ${models} }))
    on('session/set_model', ({ id }) => { if (!back) reply(id, {}) })
    on('session/prompt', () => { writeFileSync('back', ''); process.exit(1) })`,
  )
  const sandbox = await scene({ agents: [hangs] })
  const session = await sandbox.openSession({ agent: 'hangs', model: 'b' })
  expect(await failure(session.prompt('die'))).toMatchObject({ code: 'agent_exited' })
  const running = session.prompt('again')
  running.catch(() => undefined)
  const isHung = ({ data, seq }: { data: unknown; seq: number }) =>
    seq > dead && JSON.stringify(data).includes('session/set_model')
  const dead = (await until(sandbox, 'agent.exited')).seq
  await until(sandbox, 'agent.message', isHung)
  await session.close()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
})

it('returns no closing session: a resume waits and returns an open one', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { id: 'closing' })
  const closing = session.close()
  const [again, gone] = await Promise.all([
    sandbox.sessions.resume('closing'),
    sandbox.sessions.get('closing').catch((error: unknown) => error),
  ])
  await closing
  expect(again).not.toBe(session)
  expect(gone).not.toBe(session)
  expect(await promptForText(sandbox, await sandbox.sessions.get('closing'), '/say open')).toBe('open')
})

it('creates a session after another caller failed to open it', async () => {
  const sandbox = await sharedScene()
  const failing = failure(open(sandbox, { id: 'both', model: 'unheard-of' }))
  const other = sandbox.sessions.resumeOrCreate({ agent: 'demo', id: 'both' })
  const third = sandbox.sessions.resumeOrCreate({ agent: 'demo', id: 'both' })
  expect(await failing).toMatchObject({ code: 'option_unknown' })
  expect((await other).id).toBe('both')
  expect(await third).toBe(await other)
})

it('forwards a permission that an agent requests while it loads', async () => {
  const loading = script(
    'loading',
    `on('initialize', ({ id }) => reply(id, { protocolVersion: 1, agentCapabilities: { loadSession: true } }))
    let heard = ''
    on('session/load', async ({ id, sessionId }) => {
      heard = (await ${permission('sessionId')}).result.outcome.optionId
      reply(id, {})
    })
    on('session/prompt', ({ id, sessionId }) => { say(sessionId, heard); reply(id, { stopReason: 'end_turn' }) })`,
  )
  const sandbox = await scene({ agents: [loading] })
  const session = await sandbox.openSession({ agent: 'loading', id: 'loaded', permissions: 'allow' })
  await session.close()
  const again = await sandbox.sessions.resume('loaded')
  expect(await promptForText(sandbox, again, 'well?')).toBe('yes')
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([
    { data: { by: 'rule', option: 'yes' } },
  ])
})

it('does not wait for another opening when it is cancelled, and leaves no session in the agent', async () => {
  const slow = {
    ...script(
      'slow',
      `const waits = []
      on('initialize', ({ id }) => reply(id, { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { close: {} } } }))
      on('session/new', ({ id }) => { waits.push(id); if (waits.length === 1) reply(id, { sessionId: 'first' }) })
      on('session/close', ({ id }) => reply(id, {}))
      on('session/prompt', ({ id }) => {
        waits.slice(1).forEach((wait, n) => reply(wait, { sessionId: 'late-' + n }))
        reply(id, { stopReason: 'end_turn' })
      })`,
    ),
    shared: true,
  }
  const sandbox = await scene({ agents: [slow] })
  const first = await sandbox.openSession({ agent: 'slow' })
  const [one, two] = [new AbortController(), new AbortController()]
  const second = failure(sandbox.openSession({ agent: 'slow', signal: one.signal }))
  const asks = async () =>
    (await eventsOf(sandbox, 'agent.message')).filter(({ data }) =>
      JSON.stringify(data).includes('session/new'),
    )
  await eventually(async () => (await asks()).length === 2)
  const third = failure(sandbox.openSession({ agent: 'slow', signal: two.signal }))
  two.abort()
  expect(await third).toMatchObject({ code: 'cancelled' })
  one.abort()
  expect(await second).toMatchObject({ code: 'cancelled' })
  expect(await asks()).toHaveLength(2)
  await first.prompt('answer them')
  const { data } = await until(sandbox, 'agent.message', (event) =>
    JSON.stringify(event.data).includes('session/close'),
  )
  expect(data).toMatchObject({ message: { params: { sessionId: 'late-0' } } })
})

it('kills the terminals of a turn whose tool call was left open', async () => {
  const careless = script(
    'careless',
    `let turn
    on('session/prompt', async ({ id, sessionId }) => {
      turn = id
      update(sessionId, { sessionUpdate: 'tool_call', toolCallId: 't', title: 't', kind: 'execute', status: 'in_progress' })
      await ask('terminal/create', { sessionId, command: 'sleep', args: ['1000'] })
      say(sessionId, 'begun')
    })
    on('session/cancel', () => reply(turn, { stopReason: 'cancelled' }))`,
  )
  const sandbox = await scene({ agents: [careless] })
  const session = await sandbox.openSession({ agent: 'careless' })
  const running = session.prompt('go')
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('"begun"'))
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  const starts = await eventsOf(sandbox, 'process.started')
  const sleeping = starts.at(-1)
  expect(starts).toHaveLength(2)
  expect(isRunning(Number(sleeping?.data.pid))).toBe(false)
})

it('closes open work of an earlier host in the journal', async () => {
  const data = mkdtempSync('/var/tmp/vitrine-test-')
  const options = { data, providers: [local({ isolation: 'none' })], install: 'never' } as const
  let host = await openHost(options)
  onTestFinished(async () => {
    await host.close()
    rmSync(data, { recursive: true, force: true })
  })
  const { id } = await host.create()
  const journal = await host.store.journal(id)
  await journal.append([
    { type: 'session.created', session: 'left', data: { agent: 'demo', instance: 'agent_gone', cwd: '/' } },
  ])
  await host.close()
  host = await openHost(options)
  const sandbox = await host.attach(id)
  expect(await sandbox.sessions.list()).toMatchObject([{ id: 'left', state: 'closed' }])
  await sandbox.sessions.closeInterrupted()
  expect(await eventsOf(sandbox, 'session.closed')).toMatchObject([
    { session: 'left', data: { reason: 'interrupted', endedBy: 'host' } },
  ])
})
