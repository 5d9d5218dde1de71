import { describe, expect, it } from 'vitest'
import { inProcessSandboxClient, openSandboxRun, type SandboxEvent, SandboxRunAbortError } from '../src/index.ts'

const agentRun = {
  name: 'writer',
  profile: { agent: 'in-process' },
  taskToPrompt: (task: string) => task,
}
const texts = {
  kind: 'events',
  fromEvents: (events: readonly SandboxEvent[]) => events.filter(({ type }) => type === 'token').map(({ data }) => data.text),
} as const

const echo = () =>
  inProcessSandboxClient({
    onPrompt: (prompt, { round }) => [{ type: 'token', data: { text: `${round} ${prompt}` } }, { type: 'done', data: {} }],
  })

describe('A run', () => {
  it('reuses its sandbox and its session, and returns what the events of each turn give', async () => {
    await using run = await openSandboxRun(echo(), { agentRun }, texts)
    const first = await run.start('one')
    const { id } = run.box
    const session = run.sessionId
    const second = await run.resume('two')
    expect([first.out, second.out]).toEqual([['0 one'], ['1 two']])
    expect([run.box.id, run.sessionId]).toEqual([id, session])
    expect(first.outcome).toBe('ok')
    const numbers = [...first.events, ...second.events].map(({ seq }) => seq)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  })

  it('shows its observer every event of start and resume, with the turn', async () => {
    const seen: string[] = []
    await using run = await openSandboxRun(
      echo(),
      {
        agentRun,
        onSandboxEvent: ({ type }, { turnIndex, turnKind, agentRunName }) =>
          void seen.push(`${turnIndex} ${turnKind} ${agentRunName} ${type}`),
      },
      texts,
    )
    const first = await run.start('one')
    const second = await run.resume('two')
    expect(seen).toEqual([
      ...first.events.map(({ type }) => `0 start writer ${type}`),
      ...second.events.map(({ type }) => `1 resume writer ${type}`),
    ])
    expect(seen.filter((line) => line.endsWith('token'))).toHaveLength(2)
  })

  it('carries the events before an abort, also of an observer that throws', async () => {
    const abort = new AbortController()
    const client = inProcessSandboxClient({
      async *onPrompt(_prompt, { signal }) {
        yield { type: 'token', data: { text: 'first' } }
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    })
    const run = await openSandboxRun(
      client,
      {
        agentRun,
        signal: abort.signal,
        onSandboxEvent({ type }) {
          if (type === 'token') abort.abort()
          throw new Error('of the observer')
        },
      },
      texts,
    )
    const error = await run.start('one').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SandboxRunAbortError)
    if (!(error instanceof SandboxRunAbortError)) return
    expect(error.name).toBe('AbortError')
    expect(error.events.map(({ type }) => type)).toContain('token')
    expect(error.events.at(-1)?.type).toBe('turn.finished')
    await run.close()
    expect(await client.list()).toEqual([])
  })
})
