import { createHash } from 'node:crypto'
import { local } from '@vitrine/sandbox'
import { expect, it, onTestFinished } from 'vitest'
import { type HostSandbox, openHost } from '../../src/index.ts'
import { dataFolder } from '../fixtures/data.ts'
import {
  checkLaws,
  closeSharedSceneAfterAll,
  endSessions,
  eventsOf,
  failure,
  open,
  quick,
  sharedScene,
  until,
} from './fixture.ts'

closeSharedSceneAfterAll()

/** A sandbox of a host that is closed and opened again by `restart`. */
async function restartable() {
  const data = dataFolder()
  const options = { data, providers: [local({ isolation: 'none' })], install: 'never' } as const
  let host = await openHost(options)
  onTestFinished(async () => {
    const sandbox = await host.attach('kept')
    await endSessions(sandbox)
    await checkLaws(sandbox.journal)
    await host.close()
  })
  return {
    create: () => host.create({ id: 'kept' }),
    journal: () => host.store.journal('kept', { source: 'host', sandbox: 'kept' }),
    async restart(): Promise<HostSandbox> {
      await host.close()
      host = await openHost(options)
      return host.attach('kept')
    },
  }
}

const starts = async (sandbox: HostSandbox, turn: string) =>
  (await eventsOf(sandbox, 'turn.started', { turn })).length

it('returns the result of a turn that is sent again, and does not run it twice', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const first = await session.prompt('/say once', { turn: 'turn_again' })
  expect(await session.prompt('/say once', { turn: 'turn_again' })).toEqual(first)
  const parts = [{ type: 'text', text: '/say once' }]
  expect(await session.prompt(parts, { turn: 'turn_again' })).toEqual(first)
  await session.close()
  expect(await session.prompt('/say once', { turn: 'turn_again' })).toEqual(first)
  expect(await starts(sandbox, 'turn_again')).toBe(1)
})

it('joins a running turn and a queued prompt that are sent again', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { queue: 1 })
  const running = [1, 2].map(() => session.prompt('/stall', { turn: 'turn_run' }))
  const waiting = [1, 2].map(() => session.prompt('/say next', { turn: 'turn_wait' }))
  await until(sandbox, 'turn.started')
  const joining = new AbortController()
  const joined = session.prompt('/stall', { turn: 'turn_run', signal: joining.signal })
  joining.abort()
  expect(await Promise.all([...running, joined])).toMatchObject(
    [1, 2, 3].map(() => ({ turn: 'turn_run', outcome: 'cancelled' })),
  )
  expect(await Promise.all(waiting)).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }])
  expect(await starts(sandbox, 'turn_run')).toBe(1)
  expect(await starts(sandbox, 'turn_wait')).toBe(1)
  expect(await eventsOf(sandbox, 'prompt.queued')).toHaveLength(1)
})

it('refuses a turn id that has another prompt or belongs to another session', async () => {
  const sandbox = await sharedScene()
  const [session, other] = [await open(sandbox), await open(sandbox)]
  await session.prompt('/say mine', { turn: 'turn_taken' })
  const changed = await failure(session.prompt('/say other', { turn: 'turn_taken' }))
  expect(changed).toMatchObject({ code: 'turn_exists', status: 409, retryable: false })
  expect(changed.message).toContain('turn_taken')
  expect(await failure(other.prompt('/say mine', { turn: 'turn_taken' }))).toMatchObject({
    code: 'turn_exists',
  })
  const { turn } = await session.prompt('/say named by us')
  expect(await failure(session.prompt('/say something else', { turn }))).toMatchObject({
    code: 'turn_exists',
  })
  expect(await eventsOf(sandbox, 'turn.started')).toHaveLength(2)
})

it('refuses an id that is not valid', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  for (const turn of ['', 'a b', 'a/b', 'x'.repeat(129)]) {
    const invalid = await failure(session.prompt('/say no', { turn }))
    expect(invalid).toMatchObject({ code: 'argument_invalid' })
    expect(invalid.message).toContain('expected an id of letters, digits')
  }
})

it('knows the turns of an earlier host: their results, errors and prompts', async () => {
  const { create, restart } = await restartable()
  const session = await open(await create(), { id: 'talk' })
  const good = await session.prompt('/say before', { turn: 'turn_good' })
  const bad = await failure(session.prompt('/error -32603 out of order', { turn: 'turn_bad' }))
  const sandbox = await restart()
  const again = await sandbox.sessions.resume('talk', { env: quick })
  expect(await again.prompt('/say before', { turn: 'turn_good' })).toEqual(good)
  expect(await failure(again.prompt('/error -32603 out of order', { turn: 'turn_bad' }))).toMatchObject({
    code: bad.code,
    message: bad.message,
  })
  expect(await failure(again.prompt('/say after', { turn: 'turn_good' }))).toMatchObject({
    code: 'turn_exists',
  })
  expect(await starts(sandbox, 'turn_good')).toBe(1)
  expect(await starts(sandbox, 'turn_bad')).toBe(1)
})

it('knows the turns of an earlier version, whose hashes of prompts had no key', async () => {
  const { create, journal, restart } = await restartable()
  await open(await create(), { id: 'talk' })
  const text = [{ type: 'text', text: '/say yes' }]
  const promptHash = createHash('sha256')
    .update(JSON.stringify(['turn_old', text]))
    .digest('hex')
    .slice(0, 32)
  const turn = { session: 'talk', turn: 'turn_old' }
  await (await journal()).append([
    { ...turn, type: 'turn.started', data: { index: 0, prompt: text, promptHash } },
    { ...turn, type: 'turn.finished', data: { outcome: 'ok', stopReason: 'end_turn' } },
  ])
  const sandbox = await restart()
  const session = await sandbox.sessions.resume('talk', { env: quick })
  expect(await session.prompt('/say yes', { turn: 'turn_old' })).toMatchObject({ outcome: 'ok' })
  expect(await failure(session.prompt('/say no', { turn: 'turn_old' }))).toMatchObject({
    code: 'turn_exists',
  })
  expect(await starts(sandbox, 'turn_old')).toBe(1)
})

it('records a hash of a prompt that a reader cannot compute', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  await session.prompt('/say yes', { turn: 'turn_hash' })
  const [event] = await eventsOf(sandbox, 'turn.started', { turn: 'turn_hash' })
  expect(event?.data.promptHash).toMatch(/^[0-9a-f]{8}:[0-9a-f]{32}$/)
})

it('runs a prompt again that the close of its session dropped, but not one that was cancelled', async () => {
  const { create, restart } = await restartable()
  const session = await open(await create(), { id: 'talk' })
  const stop = new AbortController()
  const all = [
    session.prompt('/stall', { turn: 'turn_run' }),
    session.prompt('/say late', { turn: 'turn_closed' }),
    session.prompt('/say never', { turn: 'turn_stopped', signal: stop.signal }),
  ]
  stop.abort()
  expect(await all[2]).toEqual({ turn: 'turn_stopped', outcome: 'cancelled' })
  const dropped = failure(all[1] as Promise<unknown>)
  await session.close()
  expect(await dropped).toMatchObject({ code: 'session_closed' })
  for (const _time of [1, 2]) {
    const sandbox = await restart()
    const again = await sandbox.sessions.resume('talk', { env: quick })
    expect(await again.prompt('/say late', { turn: 'turn_closed' })).toMatchObject({ outcome: 'ok' })
    expect(await again.prompt('/say never', { turn: 'turn_stopped' })).toEqual({
      turn: 'turn_stopped',
      outcome: 'cancelled',
    })
    expect(await starts(sandbox, 'turn_closed')).toBe(1)
    expect(await starts(sandbox, 'turn_stopped')).toBe(0)
  }
})

it.each([
  ['its session', 'running'],
  ['its host', 'restarted'],
] as const)('runs a prompt again that waited for its agent when %s closed', async (what, agent) => {
  const { create, restart } = await restartable()
  const before = await create()
  const session = await open(before, { id: 'talk' })
  if (agent === 'restarted') await failure(session.prompt('/crash'))
  const waiting = session.prompt('/say late', { turn: 'turn_late' })
  if (agent === 'restarted') await until(before, 'prompt.queued', ({ turn }) => turn === 'turn_late')
  if (what === 'its session') await session.close()
  const sandbox = await restart()
  expect(await waiting).toEqual({ turn: 'turn_late', outcome: 'cancelled' })
  expect(await eventsOf(sandbox, 'prompt.dropped')).toMatchObject([
    { turn: 'turn_late', data: { reason: 'closed', outcome: 'cancelled' } },
  ])
  expect(await (await sandbox.sessions.turn('talk', 'turn_late')).result).toEqual(await waiting)
  const again = await sandbox.sessions.resume('talk', { env: quick })
  for (const _time of [1, 2])
    expect(await again.prompt('/say late', { turn: 'turn_late' })).toMatchObject({ outcome: 'ok' })
  expect(await starts(sandbox, 'turn_late')).toBe(1)
})

it('does not run a prompt again that its caller cancelled while it waited for its agent', async () => {
  const { create, restart } = await restartable()
  const session = await open(await create(), { id: 'talk' })
  const stop = new AbortController()
  const waiting = session.prompt('/say never', { turn: 'turn_stopped', signal: stop.signal })
  stop.abort()
  await session.close()
  expect(await waiting).toEqual({ turn: 'turn_stopped', outcome: 'cancelled' })
  const sandbox = await restart()
  const again = await sandbox.sessions.resume('talk', { env: quick })
  expect(await again.prompt('/say never', { turn: 'turn_stopped' })).toEqual(await waiting)
  expect(await starts(sandbox, 'turn_stopped')).toBe(0)
})
