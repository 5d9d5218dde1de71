import { mkdtempSync, rmSync } from 'node:fs'
import { local } from '@vitrine/sandbox'
import { expect, it, onTestFinished } from 'vitest'
import { openHost } from '../../src/index.ts'
import {
  checkLaws,
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
import { isRunning, marked } from './process-table.ts'

closeSharedSceneAfterAll()

it('cancels while the agent sends output', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { env: { VITRINE_DEMO_PACE: '1' } })
  const running = session.prompt('/stream 100000 16')
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('3 ....'))
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled', stopReason: 'cancelled' })
  expect(await eventsOf(sandbox, 'limit.reached')).toEqual([])
  expect(await promptForText(sandbox, session, '/say again')).toBe('again')
})

it('cancels a prompt whose turn has not started', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/stall')
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await promptForText(sandbox, session, '/say again')).toBe('again')
})

it('closes a session with a new prompt, and leaves the other sessions', async () => {
  const sandbox = await sharedScene()
  const other = await open(sandbox)
  const session = await open(sandbox)
  const running = session.prompt('/stall')
  await session.close()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await promptForText(sandbox, other, '/say here')).toBe('here')
})

it('cancels a tool call and kills its processes', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { mode: 'auto' })
  const mark = `tool-${crypto.randomUUID()}`
  const running = session.prompt(`/run sleep 100; echo ${mark}`)
  await eventually(() => marked(mark).length > 0)
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  await eventually(() => marked(mark).length === 0)
})

it('cancels while a permission is pending, which is resolved once', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/ask edit')
  await until(sandbox, 'permission.requested')
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(session.permissions).toEqual([])
  expect(await eventsOf(sandbox, 'permission.resolved')).toMatchObject([
    { data: { outcome: 'cancelled', answer: 'cancelled', by: 'cancel' } },
  ])
})

it('cancels while a question is pending', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/question')
  await until(sandbox, 'question.requested')
  await session.cancel()
  // The agent may get the answer before it obeys the cancel; either way the turn ends.
  expect(['cancelled', 'end_turn']).toContain((await running).stopReason)
  expect(await eventsOf(sandbox, 'question.resolved')).toMatchObject([
    { data: { outcome: 'cancelled', action: 'cancel', by: 'cancel' } },
  ])
})

it('ends an agent that ignores the cancel, and restarts it with the next prompt', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { limits: { cancelMs: 100 } })
  const running = session.prompt('/stall-hard')
  await until(sandbox, 'turn.started')
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await eventsOf(sandbox, 'limit.reached')).toMatchObject([
    { data: { limit: 'turn.cancelMs', max: 100 } },
  ])
  expect(await until(sandbox, 'session.closed')).toMatchObject({ data: { endedBy: 'host' } })
  expect(await eventsOf(sandbox, 'agent.exited')).toMatchObject([{ data: { endedBy: 'host' } }])
  expect(session.info.state).toBe('open')
  expect(await promptForText(sandbox, session, '/say back')).toBe('back')
})

it('ends an agent that does not even read its cancel', async () => {
  const deaf = script(
    'deaf',
    `on('session/prompt', ({ sessionId }) => {
      process.stdin.pause()
      lines.pause()
      say(sessionId, 'deaf now')
      setInterval(() => {}, 1000)
    })`,
  )
  const sandbox = await scene({ agents: [deaf] })
  const session = await sandbox.openSession({ agent: 'deaf', limits: { cancelMs: 100 } })
  const running = session.prompt('listen')
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('deaf now'))
  // More than a pipe holds: nothing that follows is ever written.
  const stuffing = failure(session.setMode('x'.repeat(10)))
  expect((await stuffing).code).toBe('option_unknown')
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
})

it('ends an agent that stops reading within a prompt', async () => {
  const deaf = script(
    'deaf',
    `on('session/new', ({ id }) => {
      lines.pause()
      process.stdin.pause()
      reply(id, { sessionId: 's' })
      setInterval(() => {}, 1000)
    })`,
  )
  const sandbox = await scene({ agents: [deaf] })
  const session = await sandbox.openSession({ agent: 'deaf', limits: { cancelMs: 100 } })
  const running = session.prompt('x'.repeat(3 * 1024 * 1024))
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('session/prompt'))
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
})

/** As both codex adapters do: the tool call is never closed, and its process runs on. */
const careless = script(
  'careless',
  `import { spawn } from 'node:child_process'
  const turns = new Map()
  on('session/prompt', ({ id, sessionId }) => {
    turns.set(sessionId, id)
    update(sessionId, { sessionUpdate: 'tool_call', toolCallId: 'run-1', title: 'sleep', kind: 'execute', status: 'in_progress' })
    const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    child.on('spawn', () => say(sessionId, 'pid ' + child.pid))
  })
  on('session/cancel', ({ sessionId }) => reply(turns.get(sessionId), { stopReason: 'cancelled' }))`,
)

it('closes the tool calls that a cancelled agent left open, and kills their processes', async () => {
  const sandbox = await scene({ agents: [careless] })
  const session = await sandbox.openSession({ agent: 'careless' })
  const running = session.prompt('go')
  const told = await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('"pid '))
  const pid = Number(/pid (\d+)/.exec(JSON.stringify(told.data))?.[1])
  expect(isRunning(pid)).toBe(true)
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled', stopReason: 'cancelled' })
  expect(await eventsOf(sandbox, 'turn.finished')).toMatchObject([{ data: { closedToolCalls: ['run-1'] } }])
  await eventually(() => !isRunning(pid))
  expect(await eventsOf(sandbox, 'agent.exited')).toEqual([])
})

it('does not kill the processes of another session in the same agent process', async () => {
  const sandbox = await scene({ agents: [{ ...careless, shared: true }] })
  const [first, second] = [
    await sandbox.openSession({ agent: 'careless' }),
    await sandbox.openSession({ agent: 'careless' }),
  ]
  expect(await eventsOf(sandbox, 'agent.started')).toHaveLength(1)
  const pidOf = async (session: string) => {
    const fits = ({ data, session: of }: { data: unknown; session?: string }) =>
      of === session && JSON.stringify(data).includes('"pid ')
    const { data } = await until(sandbox, 'agent.message', fits)
    return Number(/pid (\d+)/.exec(JSON.stringify(data))?.[1])
  }
  const one = first.prompt('go')
  await pidOf(first.id)
  const two = second.prompt('go')
  const other = await pidOf(second.id)
  await first.cancel()
  expect(await one).toMatchObject({ outcome: 'cancelled' })
  expect(isRunning(other)).toBe(true)
  await second.cancel()
  expect(await two).toMatchObject({ outcome: 'cancelled' })
  await eventually(() => !isRunning(other))
})

it('reports an open tool call also at the end of a turn that was not cancelled', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  await session.prompt('/tool-open')
  const [finished] = await eventsOf(sandbox, 'turn.finished')
  expect(finished?.data).toMatchObject({ outcome: 'ok', closedToolCalls: [expect.stringMatching(/^tool-/)] })
  await session.prompt('/tool-first')
  expect((await eventsOf(sandbox, 'turn.finished'))[1]?.data).not.toHaveProperty('closedToolCalls')
})

it('kills the processes that an agent left running when the session closes', async () => {
  const sandbox = await scene()
  const mark = `left-${crypto.randomUUID()}`
  const session = await open(sandbox, { env: { MARK: mark } })
  await session.prompt('/leave exec sleep 1000\n/leave setsid sleep 1000 & setsid sleep 1000')
  await eventually(() => marked(mark).length > 3)
  await session.close()
  await eventually(() => marked(mark).length === 0)
})

it('closes a sandbox whose agent ignores everything, and finishes every turn', async () => {
  const data = mkdtempSync('/var/tmp/vitrine-test-')
  const host = await openHost({ data, providers: [local({ isolation: 'none' })], install: 'never' })
  onTestFinished(async () => {
    await host.close()
    rmSync(data, { recursive: true, force: true })
  })
  const sandbox = await host.create()
  const mark = `heeds-nothing-${crypto.randomUUID()}`
  const session = await open(sandbox, { env: { VITRINE_DEMO_IGNORE_EOF: '1', MARK: mark } })
  const running = session.prompt('/stall-hard').then(({ outcome }) => outcome)
  await until(sandbox, 'agent.message', ({ data: said }) => JSON.stringify(said).includes('stall-hard'))
  await sandbox.close()
  expect(await running).toBe('cancelled')
  expect(marked(mark)).toEqual([])
  await checkLaws(await host.store.journal(sandbox.id))
})

it('closes a session whose agent ignores the end of its input (sandbox-agent hangs, and leaves it running)', async () => {
  const sandbox = await scene()
  const mark = `stays-${crypto.randomUUID()}`
  const session = await open(sandbox, { env: { VITRINE_DEMO_IGNORE_EOF: '1', MARK: mark } })
  expect(await promptForText(sandbox, session, '/leave sleep 1000')).toContain('Left process')
  expect(marked(mark).length).toBeGreaterThan(1)
  await session.close()
  await eventually(() => marked(mark).length === 0)
})
