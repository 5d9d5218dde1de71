import type { FunctionAgent } from '@vitrine/agents'
import { expect, it } from 'vitest'
import { eventsOf, failure, promptForText, saidIn, scene, until } from './fixture.ts'

const agentOf = (onPrompt: FunctionAgent['onPrompt']): FunctionAgent => ({ name: 'function', onPrompt })

it('returns one string, several, a stream of them, or nothing', async () => {
  const sandbox = await scene({
    agents: [
      agentOf((prompt) => {
        if (prompt === 'one') return 'one'
        if (prompt === 'all') return ['a', 'b']
        if (prompt === 'later') return Promise.resolve('later')
        if (prompt === 'nothing') return undefined
        return (async function* () {
          yield 'x'
          yield { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'y' } }
        })()
      }),
    ],
  })
  const session = await sandbox.openSession({ agent: 'function' })
  const said: string[] = []
  for (const prompt of ['one', 'all', 'later', 'stream'])
    said.push(await promptForText(sandbox, session, prompt))
  expect(said).toEqual(['one', 'ab', 'later', 'xy'])
  expect(await session.prompt('nothing')).toMatchObject({ outcome: 'ok', modelError: { sign: 'silence' } })
})

it('emits events of any vocabulary and any shape, and continues', async () => {
  const events = [
    { type: 'llm_call', id: 'c1', data: { tokens: 3 } },
    { type: 'bare' },
    { type: 'turn.finished', data: 7 },
    { type: 5, id: 6 },
    { no: 'type' },
    { type: 'with', delta: 'more' },
  ]
  const sandbox = await scene({ agents: [agentOf(() => events)] })
  const session = await sandbox.openSession({ agent: 'function' })
  const { turn, outcome } = await session.prompt('go')
  expect(outcome).toBe('ok')
  expect((await eventsOf(sandbox, 'foreign.event', { turn })).map(({ data }) => data)).toEqual([
    events[0],
    { type: 'bare', data: null },
    events[2],
    { type: 'unknown', data: events[3] },
    { type: 'unknown', data: events[4] },
    { type: 'with', delta: 'more', data: null },
  ])
})

it('fails like an agent, and accepts the next prompt', async () => {
  const sandbox = await scene({
    agents: [
      agentOf((prompt, { round }) => {
        if (prompt === 'throw') throw new Error('out of ideas')
        return `round ${round}`
      }),
    ],
  })
  const session = await sandbox.openSession({ agent: 'function' })
  const error = await failure(session.prompt('throw'))
  expect(error).toMatchObject({ code: 'agent_failed' })
  expect(error.message).toContain('out of ideas')
  expect(await promptForText(sandbox, session, 'again')).toBe('round 1')
})

it('a function is cancelled, whether it obeys its signal or not', async () => {
  const seen: unknown[] = []
  const sandbox = await scene({
    agents: [
      agentOf((_prompt, { signal }) => {
        signal.addEventListener('abort', () => seen.push('aborted'))
        return new Promise(() => undefined)
      }),
    ],
  })
  const session = await sandbox.openSession({ agent: 'function' })
  const running = session.prompt('go')
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('session/prompt'))
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled', stopReason: 'cancelled' })
  expect(seen).toEqual(['aborted'])
  const last = session.prompt('go')
  await session.close()
  expect(await last).toMatchObject({ outcome: 'cancelled' })
  expect(await saidIn(sandbox, { session: session.id })).toBe('')
})

it('continues to count its rounds when its session is resumed', async () => {
  const sandbox = await scene({ agents: [agentOf((_prompt, { round }) => `round ${round}`)] })
  const session = await sandbox.openSession({ agent: 'function', id: 'rounds' })
  expect(await promptForText(sandbox, session, 'one')).toBe('round 0')
  expect(await promptForText(sandbox, session, 'two')).toBe('round 1')
  await session.close()
  const again = await sandbox.sessions.resume('rounds')
  expect(await promptForText(sandbox, again, 'three')).toBe('round 2')
})
