import { expect, it } from 'vitest'
import { allEvents, eventsOf, failure, open, scene, talk, unshared, until } from './scene.ts'

const secret = 'hushed-value-3f9c1b7d2e'
const halves = [secret.slice(0, 9), secret.slice(9)] as const

it('keeps a credential out of every event, and names it', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { credentials: { DEMO_API_KEY: secret } })
  expect(await talk(sandbox, session, '/env DEMO_API_KEY')).toBe(
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

it('keeps it out when it is split over messages', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { credentials: { DEMO_API_KEY: secret } })
  const { turn } = await session.prompt(`/say begin ${halves[0]}\n/say ${halves[1]} end`)
  // Only what the agent said: the prompt is the caller's own, and has the halves apart.
  const said = (await eventsOf(sandbox, 'agent.message', { turn })).filter(
    ({ data }) => data.direction === 'out',
  )
  const text = said.map(({ data }) => /"text":"([^"]*)"/.exec(JSON.stringify(data))?.[1] ?? '').join('')
  expect(text).not.toContain(secret)
  expect(text).toContain('begin ')
  expect(text).toContain(' end')
})

it('keeps the credentials of an agent of one’s own out too', async () => {
  const sandbox = await scene({ agents: [unshared('mine')] })
  const session = await sandbox.openSession({ agent: 'mine', credentials: { MY_KEY: secret } })
  await session.prompt('/env-value MY_KEY')
  await failure(session.prompt(`/crash ${secret}\n/crash`).then(() => session.prompt('/crash')))
  await until(sandbox, 'session.closed')
  const text = JSON.stringify(await allEvents(sandbox.journal))
  expect(text).not.toContain(secret)
  expect(await eventsOf(sandbox, 'agent.started')).toMatchObject([{ data: { credentials: ['MY_KEY'] } }])
})

it('passes nothing that was not granted', async () => {
  const before = process.env.DEMO_API_KEY
  process.env.DEMO_API_KEY = secret
  try {
    const sandbox = await scene()
    const without = await open(sandbox)
    expect(await talk(sandbox, without, '/env DEMO_API_KEY')).toBe('DEMO_API_KEY is not set.')
    const granted = await open(sandbox, { credentials: 'env' })
    expect(await talk(sandbox, granted, '/env DEMO_API_KEY')).toContain('is set')
    expect(JSON.stringify(await allEvents(sandbox.journal))).not.toContain(secret)
  } finally {
    if (before === undefined) delete process.env.DEMO_API_KEY
    else process.env.DEMO_API_KEY = before
  }
})

it('keeps one secret once, however many sessions have it', async () => {
  const sandbox = await scene()
  for (let n = 0; n < 5; n += 1) {
    const session = await open(sandbox, { credentials: { DEMO_API_KEY: secret } })
    await session.prompt('/env-value DEMO_API_KEY')
  }
  expect(JSON.stringify(await allEvents(sandbox.journal))).not.toContain(secret)
})
