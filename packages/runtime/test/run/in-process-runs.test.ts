import { describe, expect, it } from 'vitest'
import {
  type Deliverable,
  inlineSandboxClient,
  inProcessSandboxClient,
  openSandboxRun,
  type SandboxEvent,
  SandboxRunError,
} from '../../src/index.ts'

const agentRun = { name: 'writer', profile: { agent: 'in-process' }, taskToPrompt: (task: string) => task }
const types: Deliverable<readonly string[]> = {
  kind: 'events',
  fromEvents: (events) => events.map(({ type }) => type),
}

describe('a run in an event-only sandbox', () => {
  it('goes from a prompt to a result of the events, over turns', async () => {
    const client = inProcessSandboxClient({
      async *onPrompt(prompt, { round }) {
        yield { type: 'token', data: { text: `${round} ${prompt}` } }
      },
    })
    const texts: Deliverable<readonly unknown[]> = {
      kind: 'events',
      fromEvents: (events) => events.flatMap(({ type, data }) => (type === 'token' ? [data.text] : [])),
    }
    await using run = await openSandboxRun(client, { agentRun }, texts)
    const first = await run.start('one')
    const second = await run.resume('two')
    expect([first.out, second.out]).toEqual([['0 one'], ['1 two']])
    expect([first.changedFiles, second.changedFiles]).toEqual([[], []])
  })

  it('cannot have an artifact: the turn fails as unsupported, with its events, after one read', async () => {
    const client = inProcessSandboxClient({ onPrompt: () => [{ type: 'token', data: {} }] })
    const artifact: Deliverable<string> = {
      kind: 'artifact',
      path: 'report.md',
      fromArtifact: (text) => text,
    }
    await using run = await openSandboxRun(client, { agentRun, readRetryDelayMs: 3_600_000 }, artifact)
    const error = await run.start('one').catch((thrown: unknown) => thrown)
    if (!(error instanceof SandboxRunError)) throw error
    expect(error.code).toBe('unsupported')
    expect(error.message).toMatch(/^files\.stat: .*workdir/)
    expect(error.events.map(({ type }) => type)).toEqual(expect.arrayContaining(['token', 'turn.finished']))
  })
})

it('a run shows the progress of an executor to its observer before the executor goes on', async () => {
  const seen: SandboxEvent[] = []
  const firstSeen = Promise.withResolvers<void>()
  const steps: string[] = []
  const client = inlineSandboxClient(() => ({
    async *execute() {
      yield { type: 'progress', data: { done: 1 } }
      await firstSeen.promise
      steps.push('went on')
    },
    resultArtifact: () => ({ out: 'answer', spent: { inputTokens: 2, outputTokens: 3 } }),
    teardown: () => void steps.push('teardown'),
  }))
  const onSandboxEvent = (event: SandboxEvent) => {
    seen.push(event)
    if (event.type !== 'progress') return
    steps.push('seen')
    firstSeen.resolve()
  }
  await using run = await openSandboxRun(client, { agentRun, onSandboxEvent }, types)
  const { out, usage } = await run.start('one')
  expect(steps).toEqual(['seen', 'went on', 'teardown'])
  expect(out.filter((type) => !type.includes('.'))).toEqual(['progress', 'llm_call', 'result', 'done'])
  expect(seen.find(({ type }) => type === 'progress')?.seq, 'it was committed').toBeTypeOf('number')
  expect(usage).toEqual({ inputTokens: 2, outputTokens: 3 })
})
