import { expect, it } from 'vitest'
import {
  allEvents,
  closeSharedSceneAfterAll,
  eventsOf,
  open,
  promptForText,
  saidIn,
  scene,
  script,
  sharedScene,
  until,
} from './fixture.ts'

closeSharedSceneAfterAll()

it.each(['none', 'bubblewrap'] as const)(
  'reads and writes files as operations of the turn, isolation %s',
  async (isolation) => {
    const sandbox = await scene({ isolation })
    const session = await open(sandbox, { mode: 'auto' })
    const { turn } = await session.prompt('/write notes/a.txt hello\n/read notes/a.txt')
    expect(await saidIn(sandbox, { turn })).toBe('Wrote notes/a.txt.hello')
    const operations = await eventsOf(sandbox, 'operation.started', { turn })
    expect(operations.map(({ data }) => data.op)).toEqual(expect.arrayContaining(['read', 'write']))
    for (const event of operations) expect(event).toMatchObject({ session: session.id, turn, actor: 'demo' })
    const files = await eventsOf(sandbox, 'file.created')
    const [file] = files.filter(({ data }) => data.path === 'notes/a.txt')
    expect(file).toMatchObject({ turn, session: session.id })
    const [finished] = await eventsOf(sandbox, 'turn.finished')
    expect(file?.seq).toBeLessThan(finished?.seq ?? 0)
  },
)

it('runs terminals as processes of the turn, and records file events before the turn ends', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { mode: 'auto' })
  const { turn } = await session.prompt('/run echo made > made.txt; exit 3')
  expect(await saidIn(sandbox, { turn })).toBe('Ended with 3.')
  const [spawned] = (await eventsOf(sandbox, 'operation.started', { turn })).filter(
    ({ data }) => data.op === 'spawn',
  )
  expect(spawned).toMatchObject({ session: session.id, actor: 'demo' })
  const exited = (await eventsOf(sandbox, 'process.exited')).find(({ data }) => data.exitCode === 3)
  expect(exited).toBeDefined()
  const order = (await allEvents(sandbox.journal, ['file.*', 'turn.finished'])).map(({ type, turn: of }) => [
    type,
    of,
  ])
  expect(order.at(-1)).toEqual(['turn.finished', turn])
  expect(order).toContainEqual(['file.created', turn])
})

it('assigns file events to no turn when two turns run', async () => {
  const sandbox = await sharedScene()
  const [first, second] = [await open(sandbox, { mode: 'auto' }), await open(sandbox, { mode: 'auto' })]
  const stalling = first.prompt('/stall')
  await until(sandbox, 'turn.started', ({ session }) => session === first.id)
  const { turn } = await second.prompt('/write both.txt whose')
  await first.cancel()
  await stalling
  const created = await until(sandbox, 'file.created', ({ data }) => data.path === 'both.txt')
  expect(created.turn).toBeUndefined()
  const [finished] = await eventsOf(sandbox, 'turn.finished', { turn })
  expect(created.seq).toBeLessThan(finished?.seq ?? 0)
})

it('assigns file changes between two turns to no turn', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { mode: 'auto' })
  await session.prompt('/say before')
  await sandbox.files.write('mine.txt', 'by hand')
  const { turn } = await session.prompt('/write agents.txt by the agent')
  const created = await eventsOf(sandbox, 'file.created')
  expect(created.map((event) => [event.data.path, event.turn])).toEqual([
    ['mine.txt', undefined],
    ['agents.txt', turn],
  ])
})

it('refuses a path outside of the sandbox with an error, and the turn continues', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { mode: 'auto' })
  const said = await promptForText(
    sandbox,
    session,
    '/read /etc/../etc/shadow\n/write ../../escaped.txt no\n/say still here',
  )
  expect(said).toContain('Could not read')
  expect(said).toContain('Did not write ../../escaped.txt: failed.')
  expect(said).toContain('still here')
  const messages = (await eventsOf(sandbox, 'agent.message')).map(({ data }) => JSON.stringify(data))
  expect(messages.some((message) => message.includes('root:'))).toBe(false)
})

/** Says what it is answered to each request of the prompt, in order. */
const asking = script(
  'asking',
  `on('session/prompt', async ({ id, sessionId, prompt }) => {
    const answers = []
    for (const [method, params] of JSON.parse(prompt[0].text)) {
      const text = JSON.stringify(params).replaceAll('$TERMINAL', answers[0]?.result?.terminalId)
      answers.push(await ask(method, { sessionId, ...JSON.parse(text) }))
    }
    say(sessionId, JSON.stringify(answers))
    reply(id, { stopReason: 'end_turn' })
  })`,
)

interface ClientResponse {
  readonly result?: { readonly [key: string]: unknown }
  readonly error?: { readonly code: number; readonly message: string }
}

it('reads the requested lines of a file', async () => {
  const sandbox = await scene({ agents: [asking] })
  await sandbox.files.write('lines.txt', 'one\ntwo\nthree\nfour\n')
  const session = await sandbox.openSession({ agent: 'asking' })
  const path = `${sandbox.root}/lines.txt`
  const prompt = JSON.stringify([
    ['fs/read_text_file', { path }],
    ['fs/read_text_file', { path, line: 2, limit: 2 }],
    ['fs/read_text_file', { path: `${sandbox.root}/none.txt` }],
    ['fs/read_text_file', {}],
  ])
  const answers: ClientResponse[] = JSON.parse(await promptForText(sandbox, session, prompt))
  expect(answers[0]?.result?.content).toBe('one\ntwo\nthree\nfour\n')
  expect(answers[1]?.result?.content).toBe('two\nthree')
  expect(answers[2]?.error).toMatchObject({ code: -32_002 })
  expect(answers[3]?.error).toMatchObject({ code: -32_602 })
})

it('refuses a file that is too large in bytes, also one of few long characters', async () => {
  const sandbox = await scene({ agents: [asking] })
  await sandbox.files.write('long.txt', 'é'.repeat(10 * 1024 * 1024))
  const session = await sandbox.openSession({ agent: 'asking' })
  const prompt = JSON.stringify([['fs/read_text_file', { path: `${sandbox.root}/long.txt` }]])
  const answers: ClientResponse[] = JSON.parse(await promptForText(sandbox, session, prompt))
  expect(answers[0]?.error?.message).toContain('larger than')
})

it('keeps the end of a terminal’s output, and supports kill and release', async () => {
  const sandbox = await scene({ agents: [asking] })
  const session = await sandbox.openSession({ agent: 'asking' })
  const args = ['-c', 'seq 1 1000; echo the end']
  const answers: ClientResponse[] = JSON.parse(
    await promptForText(
      sandbox,
      session,
      JSON.stringify([
        ['terminal/create', { command: 'sh', args, outputByteLimit: 20, env: [] }],
        ['terminal/wait_for_exit', { terminalId: '$TERMINAL' }],
        ['terminal/output', { terminalId: '$TERMINAL' }],
        ['terminal/kill', { terminalId: '$TERMINAL' }],
        ['terminal/release', { terminalId: '$TERMINAL' }],
        ['terminal/output', { terminalId: '$TERMINAL' }],
      ]),
    ),
  )
  expect(answers[1]?.result).toMatchObject({ exitCode: 0, signal: null })
  expect(answers[2]?.result).toMatchObject({ truncated: true, exitStatus: { exitCode: 0 } })
  expect(answers[2]?.result?.output).toMatch(/the end\n$/)
  expect(String(answers[2]?.result?.output).length).toBe(20)
  expect(answers[5]?.error?.message).toContain('does not exist in this session')
})

it('ends the terminals of a session when it closes', async () => {
  const sandbox = await scene({ agents: [asking] })
  const session = await sandbox.openSession({ agent: 'asking' })
  await session.prompt(JSON.stringify([['terminal/create', { command: 'sleep', args: ['1000'] }]]))
  const running = await until(sandbox, 'process.started', ({ data }) => JSON.stringify(data).includes('1000'))
  await session.close()
  const ended = await until(sandbox, 'process.exited', ({ data }) => data.process === running.data.process)
  const [closed] = await eventsOf(sandbox, 'session.closed')
  expect(ended.seq).toBeLessThan(closed?.seq ?? 0)
})
