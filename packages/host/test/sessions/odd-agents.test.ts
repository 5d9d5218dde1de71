import { mkdtempSync, rmSync } from 'node:fs'
import type { CustomAgent } from '@vitrine/agents'
import { expect, it, onTestFinished } from 'vitest'
import {
  allEvents,
  closeSharedSceneAfterAll,
  eventsOf,
  eventually,
  failure,
  open,
  promptForText,
  saidIn,
  scene,
  script,
  sharedScene,
  until,
} from './fixture.ts'
import { marked } from './process-table.ts'

closeSharedSceneAfterAll()

it('responds to unknown methods with -32601, and records them', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const said = await promptForText(
    sandbox,
    session,
    '/unknown-request craft/drainMidTurnQueue\n/unknown-notification _auth/status',
  )
  expect(said).toBe('craft/drainMidTurnQueue answered error -32601.')
  const heard = (await eventsOf(sandbox, 'agent.message', { session: session.id })).map(({ data }) =>
    JSON.stringify(data),
  )
  expect(heard.filter((message) => message.includes('craft/drainMidTurnQueue'))).not.toHaveLength(0)
  expect(heard.filter((message) => message.includes('"method":"_auth/status"'))).toHaveLength(1)
  expect(heard.filter((message) => message.includes('"code":-32601'))).toHaveLength(1)
})

it('records lines that are no messages as they are, and continues', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  expect(await promptForText(sandbox, session, '/banner Welcome!\n/badutf8\n/say fine')).toBe('fine')
  const unparsed = await eventsOf(sandbox, 'agent.unparsed')
  expect(unparsed[0]?.data).toMatchObject({ agent: 'demo', data: 'Welcome!', encoding: 'utf8' })
  const bytes = unparsed.slice(1).map(({ data }) => Buffer.from(String(data.data), 'base64'))
  expect(unparsed.slice(1).every(({ data }) => data.encoding === 'base64')).toBe(true)
  expect(bytes[0]).toEqual(Buffer.from([0xff, 0xfe, 0xc3, 0x28]))
  expect(bytes[1]?.includes(Buffer.from([0xc3, 0x28, 0xff]))).toBe(true)
})

it('records the partial line of an agent that died within it', async () => {
  const sandbox = await scene()
  const session = await open(sandbox)
  expect(await failure(session.prompt('/half'))).toMatchObject({
    code: 'agent_exited',
    details: { exitCode: 1 },
  })
  expect(await eventsOf(sandbox, 'agent.unparsed')).toMatchObject([
    {
      data: { data: expect.stringMatching(/^\{"jsonrpc".*"sessionId":"$/), reason: 'cut off before its end' },
    },
  ])
})

it('uses the first of two responses of an agent (sandbox-agent then responds to none), and records an unrequested one', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  expect(await session.prompt('/dup\n/say once')).toMatchObject({ outcome: 'ok', stopReason: 'end_turn' })
  expect(await session.prompt('/unknown-response\n/say there')).toMatchObject({ outcome: 'ok' })
  await until(sandbox, 'log.message', ({ data }) => String(data.message).includes('nobody-asked'))
  expect(await eventsOf(sandbox, 'turn.finished')).toHaveLength(2)
})

it('accepts a message of 8 MiB', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const { turn } = await session.prompt(`/big ${8 * 1024 * 1024}`)
  const big = (await eventsOf(sandbox, 'agent.message', { turn })).map(({ data }) => JSON.stringify(data))
  expect(big.some((message) => message.includes(`"bytes":${8 * 1024 * 1024}`))).toBe(true)
})

it('ends an agent whose message is longer than 32 MiB, reports it, and affects no other agent', async () => {
  const sandbox = await scene()
  const session = await open(sandbox)
  const other = await open(sandbox, { env: { OTHER: 'yes' } })
  const error = await failure(session.prompt(`/big ${33 * 1024 * 1024}`))
  expect(error).toMatchObject({ code: 'agent_protocol_error', details: { agent: 'demo' } })
  expect(error.message).toContain(`${32 * 1024 * 1024} bytes`)
  expect(await eventsOf(sandbox, 'limit.reached')).toMatchObject([
    { data: { limit: 'agent.messageBytes', max: 32 * 1024 * 1024 } },
  ])
  expect(await eventsOf(sandbox, 'agent.unparsed')).toHaveLength(1)
  expect(await promptForText(sandbox, other, '/say unharmed')).toBe('unharmed')
})

const program = (name: string, ...command: string[]): CustomAgent => ({ name, command })

it.each<[string, CustomAgent, string, RegExp]>([
  ['does not exist', program('absent', '/no/such/program'), 'command_not_found', /absent/],
  ['ends at once', program('true', 'true'), 'agent_exited', /true .*exit code 0/s],
  [
    'fails with words',
    program('broken', 'sh', '-c', 'echo no licence >&2; exit 3'),
    'agent_exited',
    /exit code 3.*no licence/s,
  ],
  ['says back what it hears', program('cat', 'cat'), 'agent_failed', /cat/],
  [
    'says yes for ever',
    program('yes', 'yes'),
    'agent_protocol_error',
    /yes .*does not speak the Agent Client Protocol/s,
  ],
  [
    'speaks another version',
    script('future', `on('initialize', ({ id }) => reply(id, { protocolVersion: 7 }))`),
    'agent_protocol_error',
    /future .*version 7/,
  ],
  [
    'opens a session without an id',
    script('vague', `on('session/new', ({ id }) => reply(id, {}))`),
    'agent_protocol_error',
    /vague .*sessionId/,
  ],
  [
    'answers with an error',
    script(
      'unwilling',
      `on('session/new', ({ id }) => send({ id, error: { code: -32603, message: 'not today' } }))`,
    ),
    'agent_failed',
    /unwilling .*not today/,
  ],
])(
  'reports the protocol violation of a program that %s, and affects no other agent',
  async (_what, agent, code, message) => {
    const sandbox = await scene({ agents: [agent] })
    const living = await open(sandbox)
    const error = await failure(sandbox.openSession({ agent: agent.name }))
    expect(error.code).toBe(code)
    expect(error.message).toMatch(message)
    expect(error.hint).not.toBe('')
    expect(await promptForText(sandbox, living, '/say unharmed')).toBe('unharmed')
    expect(await sandbox.sessions.list()).toHaveLength(1)
  },
)

it('records the output of a program that is no agent, bounded and in few events', async () => {
  const sandbox = await scene({ agents: [program('yes', 'yes')] })
  await failure(sandbox.openSession({ agent: 'yes' }))
  const unparsed = await eventsOf(sandbox, 'agent.unparsed')
  expect(unparsed.length).toBeLessThan(400)
  expect(JSON.stringify(unparsed[0]?.data)).toContain('y\\ny\\n')
  expect(await eventsOf(sandbox, 'limit.reached')).toMatchObject([{ data: { limit: 'agent.unparsedBytes' } }])
})

it('stops waiting for a silent program when its signal aborts', async () => {
  const mark = `1000.${process.pid}`
  const sandbox = await scene({ agents: [program('sleeper', 'sleep', mark)] })
  const stopping = new AbortController()
  const failed = failure(sandbox.openSession({ agent: 'sleeper', signal: stopping.signal }))
  await until(sandbox, 'agent.started')
  stopping.abort()
  const error = await failed
  expect(error.code).toBe('cancelled')
  expect(error.message).toContain('sleeper')
  await eventually(() => marked(mark).length === 0)
})

it('stops waiting for the response to session/new when its signal aborts', async () => {
  const sandbox = await scene({ agents: [script('mute', `on('session/new', () => {})`)] })
  const stopping = new AbortController()
  const failed = failure(sandbox.openSession({ agent: 'mute', signal: stopping.signal }))
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('session/new'))
  stopping.abort()
  expect((await failed).code).toBe('cancelled')
  expect(await eventsOf(sandbox, 'agent.exited')).toHaveLength(1)
})

it('reports how to install a missing agent with install: never', async () => {
  const agentCache = mkdtempSync('/var/tmp/vitrine-test-')
  onTestFinished(() => rmSync(agentCache, { recursive: true, force: true }))
  const sandbox = await scene({ agentCache })
  const error = await failure(sandbox.openSession({ agent: 'codex', credentials: 'none' }))
  expect(error).toMatchObject({ code: 'agent_not_installed', details: { agent: 'codex' } })
  expect(error.message).toContain("installAgent('codex')")
  const living = await open(sandbox)
  expect(await promptForText(sandbox, living, '/say unharmed')).toBe('unharmed')
})

it('sends nothing more to an agent that closes its stdin, and reports it', async () => {
  const deaf = script(
    'deaf',
    `import { closeSync } from 'node:fs'
    on('session/prompt', ({ id, sessionId }) => {
      say(sessionId, 'closing')
      process.stdin.destroy()
      closeSync(0)
      setInterval(() => {}, 1000)
    })`,
  )
  const sandbox = await scene({ agents: [deaf] })
  const session = await sandbox.openSession({ agent: 'deaf', limits: { cancelMs: 60_000 } })
  const running = session.prompt('go').catch((error) => error.code)
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('closing'))
  await session.close()
  await running
})

it('records updates outside of a turn without a turn', async () => {
  const chatty = script(
    'chatty',
    `on('session/prompt', ({ id, sessionId }) => {
      reply(id, { stopReason: 'end_turn' })
      say(sessionId, 'by the way')
    })`,
  )
  const sandbox = await scene({ agents: [chatty] })
  const session = await sandbox.openSession({ agent: 'chatty' })
  await session.prompt('go')
  const late = await until(sandbox, 'agent.message', ({ data }) =>
    JSON.stringify(data).includes('by the way'),
  )
  expect(late.session).toBe(session.id)
  expect(late.turn).toBeUndefined()
  expect(await saidIn(sandbox, { session: session.id })).toBe('by the way')
})

it('delivers a flood of updates in order to a fast and a slow reader (sandbox-agent loses a third)', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const live: number[] = []
  const done = new AbortController()
  const watching = (async () => {
    for await (const item of session.events({ signal: done.signal })) {
      const number = /"text":"(\d+) \.*"/.exec(JSON.stringify('data' in item ? item.data : {}))?.[1]
      if (number !== undefined) live.push(Number(number))
      if ('type' in item && item.type === 'turn.finished') return
    }
  })()
  const slow = session.events()
  await slow.next()
  const { turn } = await session.prompt('/flood 20000 100')
  await watching
  let late = 0
  for await (const item of slow) {
    if ('type' in item && item.type === 'agent.message') late += 1
    if ('type' in item && item.type === 'turn.finished') break
  }
  expect(late).toBeGreaterThan(20_000)
  expect(live.length).toBe(20_000)
  expect(live.every((number, index) => number === index)).toBe(true)
  const [last] = (await allEvents(sandbox.journal, ['turn.finished'])).slice(-1)
  expect(last).toMatchObject({ turn, data: { outcome: 'ok' } })
})

it.each([
  ['idleMs', { idleMs: 50 }, '/stall'],
  ['totalMs', { totalMs: 200 }, '/stream 100000 10'],
] as const)('ends a turn at its limit %s, and reports it', async (limit, limits, prompt) => {
  const sandbox = await scene()
  const session = await open(sandbox, { limits, env: { VITRINE_DEMO_PACE: '1' } })
  expect(await session.prompt(prompt)).toMatchObject({ outcome: 'timeout', stopReason: 'cancelled' })
  expect(await eventsOf(sandbox, 'limit.reached')).toMatchObject([
    { session: session.id, data: { limit: `turn.${limit}`, max: Object.values(limits)[0] } },
  ])
  expect(await eventsOf(sandbox, 'turn.finished')).toMatchObject([{ data: { outcome: 'timeout' } }])
})

it('ends an agent that hangs and ignores the cancel', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { limits: { idleMs: 50, cancelMs: 50 } })
  expect(await session.prompt('/stall-hard')).toMatchObject({ outcome: 'timeout' })
  expect((await eventsOf(sandbox, 'limit.reached')).map(({ data }) => data.limit)).toEqual([
    'turn.idleMs',
    'turn.cancelMs',
  ])
})

it('pauses the idle limit while a permission is pending', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { limits: { idleMs: 1_000 }, permissions: { timeoutMs: 2_200 } })
  expect(await session.prompt('/ask edit')).toMatchObject({ outcome: 'ok' })
  expect(await eventsOf(sandbox, 'limit.reached')).toEqual([])
})
