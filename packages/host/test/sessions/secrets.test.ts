import { expect, it } from 'vitest'
import { allEvents, eventsOf, failure, open, promptForText, scene, script, until } from './fixture.ts'

const secret = 'hushed-value-3f9c1b7d2e'
const halves = [secret.slice(0, 9), secret.slice(9)] as const

it('masks a credential in every event with its name', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { credentials: { DEMO_API_KEY: secret } })
  expect(await promptForText(sandbox, session, '/env DEMO_API_KEY')).toBe(
    `DEMO_API_KEY is set, ${secret.length} characters.`,
  )
  await session.prompt('/env-value DEMO_API_KEY')
  await session.prompt(`/say I know ${secret}`)
  await session.prompt(`/banner ${secret}`)
  await session.prompt(`/title ${secret}`)
  await failure(session.prompt(`/error -32603 bad key ${secret}`))
  const text = JSON.stringify(await allEvents(sandbox.journal))
  expect(text).not.toContain(secret)
  expect(text).toContain('DEMO_API_KEY')
  expect(await eventsOf(sandbox, 'agent.started')).toMatchObject([
    { data: { credentials: ['DEMO_API_KEY'] } },
  ])
  expect(await eventsOf(sandbox, 'session.created')).toMatchObject([
    { data: { credentials: ['DEMO_API_KEY'] } },
  ])
})

it('masks a credential that is split over messages', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { credentials: { DEMO_API_KEY: secret } })
  const { turn } = await session.prompt(`/say begin ${halves[0]}\n/say ${halves[1]} end`)
  // Only the agent's messages: the prompt is the caller's own, and has the halves apart.
  const said = (await eventsOf(sandbox, 'agent.message', { turn })).filter(
    ({ data }) => data.direction === 'out',
  )
  const text = said.map(({ data }) => /"text":"([^"]*)"/.exec(JSON.stringify(data))?.[1] ?? '').join('')
  expect(text).not.toContain(secret)
  expect(text).toContain('begin ')
  expect(text).toContain(' end')
})

it('masks the credentials of a custom agent too, also in its last stderr output', async () => {
  const leaky = script(
    'leaky',
    `on('session/prompt', ({ sessionId }) => {
      say(sessionId, process.env.MY_KEY)
      console.error('bad key ' + process.env.MY_KEY)
      process.exitCode = 4
      process.stdin.destroy()
    })`,
  )
  const sandbox = await scene({ agents: [leaky] })
  const session = await sandbox.openSession({ agent: 'leaky', credentials: { MY_KEY: secret } })
  const error = await failure(session.prompt('go'))
  expect(error).toMatchObject({ code: 'agent_exited', details: { exitCode: 4 } })
  const closed = await until(sandbox, 'session.closed')
  expect(JSON.stringify(closed.data)).toContain('bad key [redacted')
  const text = JSON.stringify(await allEvents(sandbox.journal))
  expect(text).not.toContain(secret)
  expect(await eventsOf(sandbox, 'agent.started')).toMatchObject([{ data: { credentials: ['MY_KEY'] } }])
})

it('passes no variable that was not granted', async () => {
  const before = process.env.DEMO_API_KEY
  process.env.DEMO_API_KEY = secret
  try {
    const sandbox = await scene()
    const without = await open(sandbox)
    expect(await promptForText(sandbox, without, '/env DEMO_API_KEY')).toBe('DEMO_API_KEY is not set.')
    const granted = await open(sandbox, { credentials: 'env' })
    expect(await promptForText(sandbox, granted, '/env DEMO_API_KEY')).toContain('is set')
    expect(JSON.stringify(await allEvents(sandbox.journal))).not.toContain(secret)
  } finally {
    if (before === undefined) delete process.env.DEMO_API_KEY
    else process.env.DEMO_API_KEY = before
  }
})

it('registers one secret once for any number of sessions', async () => {
  const sandbox = await scene()
  for (let n = 0; n < 5; n += 1) {
    const session = await open(sandbox, { credentials: { DEMO_API_KEY: secret } })
    await session.prompt('/env-value DEMO_API_KEY')
  }
  expect(JSON.stringify(await allEvents(sandbox.journal))).not.toContain(secret)
})
