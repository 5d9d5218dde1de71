import { expect, it } from 'vitest'
import {
  allEvents,
  closeSharedSceneAfterAll,
  eventsOf,
  failure,
  open,
  scene,
  script,
  sharedScene,
  until,
} from './fixture.ts'

closeSharedSceneAfterAll()

const text = (prompt: string) => [{ type: 'text', text: prompt }]

it('records a prompt that waits, with who sent it, its text and its position', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const first = session.prompt('/wait 50', { actor: 'ada' })
  const others = [
    session.prompt('/say two', { turn: 'turn_two', actor: 'bob', run: 'run_1' }),
    session.prompt('/say three', { turn: 'turn_three' }),
  ]
  await Promise.all([first, ...others])
  const events = await allEvents(sandbox.journal, ['prompt.*', 'turn.started'])
  expect(events.map(({ type, turn }) => [type, turn]).slice(-2)).toEqual([
    ['turn.started', 'turn_two'],
    ['turn.started', 'turn_three'],
  ])
  const queued = events.filter(({ type }) => type === 'prompt.queued')
  expect(queued).toMatchObject([
    {
      session: session.id,
      turn: 'turn_two',
      actor: 'bob',
      run: 'run_1',
      data: { prompt: text('/say two'), position: 1 },
    },
    { session: session.id, turn: 'turn_three', data: { prompt: text('/say three'), position: 2 } },
  ])
  const started = await eventsOf(sandbox, 'turn.started', { turn: 'turn_two' })
  expect(started[0]?.data.promptHash).toBe(queued[0]?.data.promptHash)
})

it('records a queued prompt that is cancelled, by its signal or with all others', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const stop = new AbortController()
  const running = session.prompt('/stall')
  const one = session.prompt('/say one', { turn: 'turn_one', actor: 'ada', signal: stop.signal })
  const two = session.prompt('/say two', { turn: 'turn_other' })
  await until(sandbox, 'turn.started')
  stop.abort()
  expect(await one).toMatchObject({ outcome: 'cancelled' })
  await session.cancel()
  await Promise.all([running, two])
  expect(await eventsOf(sandbox, 'prompt.dropped')).toMatchObject([
    { turn: 'turn_one', actor: 'ada', data: { reason: 'cancelled', prompt: text('/say one') } },
    { turn: 'turn_other', data: { reason: 'cancelled' } },
  ])
})

it('records the prompts that the close of a session drops', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/stall')
  const waiting = failure(session.prompt('/say never', { turn: 'turn_never' }))
  await until(sandbox, 'turn.started')
  await session.close()
  await running
  expect(await waiting).toMatchObject({ code: 'session_closed' })
  const events = await allEvents(sandbox.journal, ['prompt.dropped', 'session.closed'])
  expect(events).toMatchObject([
    { type: 'prompt.dropped', turn: 'turn_never', data: { reason: 'closed' } },
    { type: 'session.closed' },
  ])
})

it('records a prompt that waits for its agent, and drops it when the agent cannot be started', async () => {
  const mortal = script(
    'mortal',
    `import { existsSync, writeFileSync } from 'node:fs'
    if (existsSync('gone')) process.exit(3)
    on('session/prompt', ({ prompt }) => {
      if (prompt.at(-1).text === 'for good') writeFileSync('gone', '')
      process.exit(1)
    })`,
  )
  const sandbox = await scene({ agents: [mortal] })
  const session = await sandbox.openSession({ agent: 'mortal' })
  await failure(session.prompt('die'))
  await failure(session.prompt('for good', { turn: 'turn_back' }))
  expect(await eventsOf(sandbox, 'prompt.queued')).toMatchObject([
    { turn: 'turn_back', data: { position: 0, prompt: text('for good') } },
  ])
  expect(await eventsOf(sandbox, 'turn.started')).toHaveLength(2)
  const lost = await failure(session.prompt('hello?', { turn: 'turn_lost' }))
  expect(lost.code).toBe('agent_exited')
  expect(await eventsOf(sandbox, 'prompt.dropped')).toMatchObject([
    { turn: 'turn_lost', data: { reason: 'failed', errorCode: 'agent_exited' } },
  ])
  await sandbox.files.remove('gone')
  expect((await failure(session.prompt('hello?', { turn: 'turn_lost' }))).code).toBe('agent_exited')
  expect(await eventsOf(sandbox, 'turn.started', { turn: 'turn_lost' })).toHaveLength(1)
})

it('records the end of a prompt whose agent died unseen and cannot be started again', async () => {
  const mortal = script(
    'mortal',
    `import { existsSync } from 'node:fs'
    if (existsSync('gone')) process.exit(3)`,
  )
  const sandbox = await scene({ agents: [mortal] })
  // Some of them fail before their turn starts, some within it.
  for (const turn of ['turn_a', 'turn_b', 'turn_c', 'turn_d', 'turn_e', 'turn_f']) {
    const session = await sandbox.openSession({ agent: 'mortal' })
    const pid = (await eventsOf(sandbox, 'agent.started')).at(-1)?.data.pid
    await sandbox.files.write('gone', '')
    process.kill(Number(pid), 'SIGKILL')
    const { code } = await failure(session.prompt('hello?', { turn }))
    const ends = await allEvents(sandbox.journal, ['prompt.dropped', 'turn.finished'])
    expect(ends.filter((end) => end.turn === turn)).toMatchObject([{ data: { errorCode: code } }])
    await sandbox.files.remove('gone')
  }
})
