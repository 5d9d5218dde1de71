import { expect, it } from 'vitest'
import {
  allEvents,
  eventsOf,
  eventually,
  failure,
  open,
  promptForText,
  quick,
  saidIn,
  scene,
  script,
  unshared,
  until,
} from './fixture.ts'
import { isRunning, marked } from './process-table.ts'

it.each([
  ['/stderr 100\n/crash 7', { exitCode: 7, signal: null }],
  ['/stderr 100\n/crash-signal SIGKILL', { exitCode: null, signal: 'SIGKILL' }],
  ['/stderr 100\n/crash-signal SIGTERM', { exitCode: null, signal: 'SIGTERM' }],
])(
  'reports how an agent died within a turn (sandbox-agent never responds to the prompt): %s',
  async (prompt, exit) => {
    const sandbox = await scene()
    const session = await open(sandbox)
    const error = await failure(session.prompt(prompt))
    expect(error).toMatchObject({ code: 'agent_exited', details: { agent: 'demo', ...exit } })
    expect(error.message).toContain('demo')
    expect(error.message).toContain(exit.signal ?? `exit code ${exit.exitCode}`)
    expect(error.message).toContain('line 99 of 100')
    const { stderr } = error.details as { stderr: { head: string; tail: string; lines: number } }
    const extra = exit.exitCode === null ? 0 : 1
    expect(stderr.lines).toBe(100 + extra)
    expect(stderr.head.split('\n')).toHaveLength(20)
    expect(stderr.head).toContain('line 19 of 100')
    expect(stderr.tail.split('\n')).toHaveLength(50)
    expect(stderr.tail).toContain(`line ${50 + extra} of 100`)
    expect(stderr.tail).not.toContain(`line ${49 + extra} of 100`)
    const closed = await until(sandbox, 'session.closed')
    expect(closed.data).toMatchObject({
      endedBy: 'agent',
      errorCode: 'agent_exited',
      ...exit,
      stderr: { lines: stderr.lines },
    })
    const types = (await allEvents(sandbox.journal, ['agent.exited', 'turn.finished', 'session.closed'])).map(
      ({ type }) => type,
    )
    expect(types).toEqual(['agent.exited', 'turn.finished', 'session.closed'])
    expect(await eventsOf(sandbox, 'turn.finished')).toMatchObject([
      { data: { outcome: 'failed', errorCode: 'agent_exited' } },
    ])
    expect(await eventsOf(sandbox, 'agent.exited')).toMatchObject([{ data: { ...exit, endedBy: 'agent' } }])
    expect(session.info.state).toBe('open')
  },
)

it('kills every process that a killed agent had started', async () => {
  const sandbox = await scene()
  const mark = `tree-${crypto.randomUUID()}`
  const session = await open(sandbox, { env: { MARK: mark }, mode: 'auto' })
  const left = await promptForText(sandbox, session, '/leave exec sleep 1000')
  const pid = Number(/process (\d+)/.exec(left)?.[1])
  const running = failure(session.prompt('/run sleep 1000'))
  const [started] = await eventsOf(sandbox, 'agent.started')
  await until(sandbox, 'process.started', ({ data }) => JSON.stringify(data).includes('sleep 1000'))
  expect(isRunning(pid)).toBe(true)
  process.kill(Number(started?.data.pid), 'SIGKILL')
  expect(await running).toMatchObject({ code: 'agent_exited', details: { signal: 'SIGKILL' } })
  await until(sandbox, 'session.closed')
  await eventually(() => !isRunning(pid) && marked(mark).length === 0)
  expect(await eventsOf(sandbox, 'turn.finished')).toMatchObject([
    { data: { outcome: 'ok' } },
    { data: { outcome: 'failed', closedToolCalls: [expect.any(String)] } },
  ])
})

it('resolves the pending requests of a dead agent as interrupted', async () => {
  const sandbox = await scene()
  const session = await open(sandbox)
  const running = failure(session.prompt('/ask edit'))
  const { data } = await until(sandbox, 'permission.requested')
  const [started] = await eventsOf(sandbox, 'agent.started')
  process.kill(Number(started?.data.pid), 'SIGKILL')
  expect(await running).toMatchObject({ code: 'agent_exited' })
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([
    { data: { permission: data.permission, outcome: 'interrupted', answer: 'cancelled' } },
  ])
  expect(session.permissions).toEqual([])
  expect(await failure(session.respondPermission(String(data.permission), 'allow_once'))).toMatchObject({
    code: 'permission_not_pending',
  })
})

it('restarts the agent with the next prompt and loads its session (sandbox-agent: broken pipe, and no restart)', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { id: 'lasting', mode: 'auto', model: 'sprinter' })
  await session.prompt('/say The word is pomegranate.')
  await failure(session.prompt('/crash'))
  expect(await promptForText(sandbox, session, '/say back')).toBe('back')
  const updates = await eventsOf(sandbox, 'session.updated')
  expect(updates.filter(({ data }) => 'restored' in data)).toMatchObject([{ data: { restored: 'resume' } }])
  expect(await eventsOf(sandbox, 'agent.started')).toHaveLength(2)
  expect(session.info).toMatchObject({ state: 'open', turns: 3 })
  const chosen = session.info.options.map(({ id, current }) => [id, current])
  expect(chosen).toContainEqual(['mode', 'auto'])
  expect(chosen).toContainEqual(['model', 'sprinter'])
})

it('restarts an agent that died between two turns', async () => {
  const sandbox = await scene()
  const session = await open(sandbox)
  const [started] = await eventsOf(sandbox, 'agent.started')
  process.kill(Number(started?.data.pid), 'SIGKILL')
  // Whether its end is known by now or not.
  expect(await promptForText(sandbox, session, '/say back').catch((error) => error.code)).toMatch(
    /^back$|^agent_exited$/,
  )
  expect(await promptForText(sandbox, session, '/say again')).toBe('again')
  await until(sandbox, 'session.closed')
})

it('runs the prompts that were queued when the agent died', async () => {
  const sandbox = await scene()
  const session = await open(sandbox)
  const crashed = failure(session.prompt('/crash'))
  const waiting = session.prompt('/say I waited')
  expect(await crashed).toMatchObject({ code: 'agent_exited' })
  const { turn } = await waiting
  expect(await saidIn(sandbox, { turn })).toBe('I waited')
  const order = (await allEvents(sandbox.journal, ['turn.*', 'session.*'])).map(({ type }) => type)
  expect(order.slice(0, 6)).toEqual([
    'session.created',
    'turn.started',
    'turn.finished',
    'session.closed',
    'session.updated',
    'turn.started',
  ])
})

it('restores every session that shared the process', async () => {
  const sandbox = await scene()
  const [first, second] = [await open(sandbox), await open(sandbox)]
  await failure(first.prompt('/crash'))
  await until(sandbox, 'session.closed', ({ session }) => session === second.id)
  const said = await Promise.all([
    promptForText(sandbox, first, '/say one'),
    promptForText(sandbox, second, '/say two'),
  ])
  expect(said).toEqual(['one', 'two'])
  expect(await eventsOf(sandbox, 'agent.started')).toHaveLength(2)
})

it('closes while its agent restarts, and stays closed', async () => {
  const sandbox = await scene()
  const session = await open(sandbox)
  await failure(session.prompt('/crash'))
  await until(sandbox, 'session.closed')
  const prompted = session.prompt('/stall').then(
    ({ outcome }) => outcome,
    (error) => error.code,
  )
  await session.close()
  expect(['cancelled', 'session_closed']).toContain(await prompted)
  expect(session.info.state).toBe('closed')
  expect(await failure(session.prompt('/say no'))).toMatchObject({ code: 'session_closed' })
})

it('gives a recap to an agent that cannot load sessions, and reapplies the chosen options', async () => {
  const forgetful = { ...quick, VITRINE_DEMO_NO_LOAD: '1' }
  const sandbox = await scene()
  const session = await open(sandbox, { env: forgetful, mode: 'plan', thoughtLevel: 'high' })
  await session.prompt('/say The word is pomegranate.')
  await session.setMode('auto')
  await failure(session.prompt('/crash'))
  const { turn } = await session.prompt('/echo')
  const restored = (await eventsOf(sandbox, 'session.updated')).filter(({ data }) => 'restored' in data)
  expect(restored).toMatchObject([{ data: { restored: 'transcript' } }])
  const [asked] = (await eventsOf(sandbox, 'agent.message', { turn })).map(({ data }) => JSON.stringify(data))
  expect(asked).toContain('The word is pomegranate.')
  expect(await saidIn(sandbox, { turn })).toMatch(/^text, \d+ bytes\ntext, 5 bytes$/)
  expect(session.info.options.find(({ id }) => id === 'mode')?.current).toBe('auto')
  expect(session.info.options.find(({ id }) => id === 'thought_level')?.current).toBe('high')
  // Once is enough.
  const next = await session.prompt('/echo')
  expect(await saidIn(sandbox, { turn: next.turn })).toBe('text, 5 bytes')
})

it('limits the recap to restoreChars, and does not repeat an earlier recap', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { env: { VITRINE_DEMO_NO_LOAD: '1' }, restoreChars: 600 })
  await session.prompt(`/say ${'The oldest words. '.repeat(100)}`)
  await session.prompt('/say The newest words.')
  const told: string[] = []
  for (const round of [1, 2]) {
    await failure(session.prompt('/crash'))
    const { turn } = await session.prompt(`/say round ${round}`)
    const messages = await eventsOf(sandbox, 'agent.message', { turn })
    const message = messages.find(({ data }) => data.direction === 'in')?.data.message
    const [part] = message?.method === 'session/prompt' ? message.params.prompt : []
    told.push(part?.type === 'text' ? part.text : '')
  }
  const preface = /^We have talked before[^\n]*\n\n/
  for (const text of told) {
    expect(text).toMatch(preface)
    expect(text.replace(preface, '').length).toBeLessThanOrEqual(600)
    expect(text.match(/We have talked before/g)).toHaveLength(1)
  }
  expect(told[0]).toContain('The newest words.')
  expect(told[1]).toContain('round 1')
})

it('gives no recap when restoreChars is 0', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { env: { VITRINE_DEMO_NO_LOAD: '1' }, restoreChars: 0 })
  await session.prompt('/say The word is pomegranate.')
  await failure(session.prompt('/crash'))
  const { turn } = await session.prompt('/echo')
  expect(await saidIn(sandbox, { turn })).toBe('text, 5 bytes')
})

it('reports why the agent cannot restart, and accepts the next prompt', async () => {
  const once = script(
    'once',
    `import { existsSync, writeFileSync } from 'node:fs'
    if (existsSync('ran')) { console.error('never twice'); process.exit(9) }
    writeFileSync('ran', '')
    on('session/prompt', () => process.exit(3))`,
  )
  const sandbox = await scene({ agents: [once] })
  const session = await sandbox.openSession({ agent: 'once' })
  expect(await failure(session.prompt('go'))).toMatchObject({ details: { exitCode: 3 } })
  const error = await failure(session.prompt('go on'))
  expect(error).toMatchObject({ code: 'agent_exited', details: { agent: 'once', exitCode: 9 } })
  expect(error.message).toContain('never twice')
  expect(await failure(session.prompt('go on'))).toMatchObject({ code: 'agent_exited' })
  expect(await eventsOf(sandbox, 'turn.started')).toHaveLength(1)
})

it('does not record updates again that an agent replays on load', async () => {
  const loads = script(
    'loads',
    `on('initialize', ({ id }) => reply(id, { protocolVersion: 1, agentCapabilities: { loadSession: true } }))
    on('session/load', ({ id, sessionId }) => {
      update(sessionId, { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'hello' } })
      say(sessionId, 'told again')
      reply(id, {})
    })
    on('session/prompt', ({ id, sessionId, prompt }) => {
      if (prompt[0].text === 'die') process.exit(1)
      say(sessionId, 'fresh')
      reply(id, { stopReason: 'end_turn' })
    })`,
  )
  const sandbox = await scene({ agents: [loads] })
  const session = await sandbox.openSession({ agent: 'loads' })
  await session.prompt('hello')
  await failure(session.prompt('die'))
  await session.prompt('hello')
  expect(await saidIn(sandbox, { session: session.id })).toBe('freshfresh')
  const replayed = (await eventsOf(sandbox, 'agent.message')).filter(({ data }) => data.replay === true)
  expect(replayed.length).toBeGreaterThanOrEqual(2)
  expect(JSON.stringify(await session.transcript())).not.toContain('told again')
  const updates = await eventsOf(sandbox, 'session.updated')
  expect(updates).toMatchObject([{ data: { restored: 'load' } }])
})

it('keeps other agents of the sandbox running when one dies', async () => {
  const sandbox = await scene({ agents: [unshared('alone')] })
  const [dying, living] = [await open(sandbox), await sandbox.openSession({ agent: 'alone' })]
  const running = living.prompt('/stall')
  await failure(dying.prompt('/crash-signal'))
  await living.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await promptForText(sandbox, living, '/say unharmed')).toBe('unharmed')
})
