import type { HostTool } from '@vitrine/agents'
import { expect, it } from 'vitest'
import { allEvents, eventsOf, failure, open, promptForText, scene, until } from './fixture.ts'

const add: HostTool = {
  name: 'add',
  description: 'Adds two numbers.',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  run: ({ a, b }) => `The sum is ${Number(a) + Number(b)}`,
}

it.each(['none', 'bubblewrap'] as const)(
  'offers functions of this program to the agent, isolation %s',
  async (isolation) => {
    const sandbox = await scene({ isolation })
    const session = await open(sandbox, { tools: [add] })
    expect(await promptForText(sandbox, session, '/mcp')).toContain('host (http): add')
    const { turn } = await session.prompt('/mcp-call add {"a": 2, "b": 3}')
    const said = JSON.stringify(await eventsOf(sandbox, 'agent.message', { turn }))
    expect(said).toContain('The sum is 5')
    const operations = (await eventsOf(sandbox, 'operation.started')).filter(
      ({ data }) => data.op === 'host_tool',
    )
    expect(operations).toMatchObject([
      { session: session.id, turn, actor: 'demo', data: { tool: 'add', input: { a: 2, b: 3 } } },
    ])
    const ended = (await eventsOf(sandbox, 'operation.finished')).filter(
      ({ data }) => data.op === 'host_tool',
    )
    expect(ended).toMatchObject([{ turn, data: { outcome: 'ok' } }])
  },
)

it('never records the token of the tools', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { tools: [add] })
  await session.prompt('/mcp-call add {"a": 1, "b": 1}')
  const messages = (await eventsOf(sandbox, 'agent.message')).map(({ data }) => JSON.stringify(data))
  const opened = messages.find((message) => message.includes('session/new'))
  expect(opened).toContain('[redacted')
  const text = JSON.stringify(await allEvents(sandbox.journal))
  expect(text).not.toMatch(/Bearer (?!\[redacted)/)
})

it('reports a failing tool to the agent, and the turn continues', async () => {
  const broken: HostTool = {
    ...add,
    name: 'broken',
    run: () => {
      throw new Error('out of order')
    },
  }
  const sandbox = await scene()
  const session = await open(sandbox, { tools: [broken] })
  expect(await promptForText(sandbox, session, '/mcp-call broken {"a": 1, "b": 1}')).toContain('out of order')
  expect(await promptForText(sandbox, session, '/say on')).toBe('on')
})

it('keeps its tools after its agent restarts, and each session has only its own', async () => {
  const sandbox = await scene()
  const session = await open(sandbox, { tools: [add] })
  const other = await open(sandbox, { tools: [{ ...add, name: 'other' }] })
  await failure(session.prompt('/crash'))
  await until(sandbox, 'session.closed', (event) => event.session === other.id)
  expect(await promptForText(sandbox, session, '/mcp-call add {"a": 40, "b": 2}')).toContain('The sum is 42')
  expect(await promptForText(sandbox, other, '/mcp-call add {"a": 40, "b": 2}')).toContain('No MCP server')
  expect(await promptForText(sandbox, other, '/mcp-call other {"a": 1, "b": 2}')).toContain('The sum is 3')
})
