import type { Sandbox } from '@vitrine/protocol'
import type { RunBudget } from '@vitrine/runtime'
import { expect, it } from 'vitest'
import {
  agentRun,
  describeRuns,
  failure,
  failureOf,
  token,
  tokens,
  typesOf,
  waitingAgent,
} from './sandbox-run-setting.ts'

describeRuns((setting) => {
  const talkative = async function* (_prompt: string, { signal }: { readonly signal: AbortSignal }) {
    while (!signal.aborted) {
      yield 'a text of some length '
      await new Promise(setImmediate)
    }
  }

  async function breach(
    budget: RunBudget,
    drive: (run: { turn(task: string): Promise<unknown> }) => Promise<unknown>,
  ) {
    await using run = await setting.open(tokens, { budget })
    const error = await failure(drive(run) as Promise<never>)
    expect(error.code).toBe('budget_exhausted')
    const { events } = await run.box.journal.read({ types: ['limit.reached'] })
    return { error, limits: events.map(({ data }) => data) }
  }

  it.each([900, 70_000])('counts a text of %i bytes, however the journal stores it', async (bytes) => {
    setting.onPrompt = () => ['x'.repeat(bytes), 'y'.repeat(200)]
    const { error } = await breach({ outputBytes: 1_000 }, (run) => run.turn('one'))
    expect(error.message).toContain('budget.outputBytes')
  })

  it('counts only its own work', async (context) => {
    setting.needs(context, 'commands')
    const other = Promise.withResolvers<void>()
    setting.onPrompt = async function* () {
      await other.promise
      yield 'done'
    }
    await using run = await setting.open(tokens, {
      budget: { processes: 1 },
      onSandboxEvent({ type }) {
        if (type !== 'turn.started') return
        void setting.client
          .attach(run.box.id)
          .then(async (box) => {
            await box.exec('true')
            await box.as({ run: 'run_other' }).exec('true')
          })
          .then(other.resolve, other.reject)
      },
    })
    await run.turn('one')
    expect(run.spend.processes).toBe(0)
  })

  it('records a breach while its sandbox is prepared, and ends as failed', async () => {
    let box: Sandbox | undefined
    const prepareBox = (prepared: Sandbox) => {
      box = prepared
      return new Promise(() => undefined)
    }
    await using run = await setting.open(tokens, {
      agentRun: { ...agentRun, prepareBox },
      budget: { wallMs: 1_500 },
    })
    expect(await failureOf(run.turn('one'))).toBe('budget_exhausted')
    const events = (await box?.journal.read({ types: ['limit.reached', 'run.*'] }))?.events
    expect(events).toMatchObject([{ type: 'limit.reached', data: { limit: 'run.wallMs' } }])
  })

  it('ends processes that the run started between two turns', async (context) => {
    setting.needs(context, 'commands')
    setting.onPrompt = () => ['done']
    await using run = await setting.open(tokens, { budget: { turns: 1 } })
    await run.turn('one')
    const process = await run.box.spawn('sleep 600')
    expect(await failureOf(run.turn('two'))).toBe('budget_exhausted')
    expect((await run.box.processes.get(process.id)).state).toBe('exited')
  })

  it('ends the turn that exceeds its output', async () => {
    setting.onPrompt = talkative
    const { error, limits } = await breach({ outputBytes: 100 }, (run) => run.turn('one'))
    expect(limits).toMatchObject([{ limit: 'run.outputBytes', max: 100 }])
    expect(typesOf(error.events)).toContain('agent.message')
    expect(typesOf(error.events).at(-1)).toBe('turn.finished')
  })

  it.each([
    ['tokens', { tokens: 100 }, 120],
    ['cost', { cost: 3 }, 4],
  ] as const)(
    'ends the turn that exceeds its %s, as far as the agent reports it',
    async (limit, budget, used) => {
      const call = { type: 'llm_call', data: { inputTokens: 20, outputTokens: 40, costUsd: 2 } }
      setting.onPrompt = async function* (_prompt, { signal }) {
        yield call
        yield call
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      }
      const { error, limits } = await breach(budget, (run) => run.turn('one'))
      expect(limits).toMatchObject([{ limit: `run.${limit}`, max: budget[limit as never], used }])
      expect(error).toMatchObject({
        usage: { inputTokens: 40, outputTokens: 80 },
        cost: { amount: 4, currency: 'USD' },
      })
    },
  )

  it('ends the turn that starts too many processes', async (context) => {
    setting.needs(context, 'commands')
    setting.onPrompt = waitingAgent
    await using run = await setting.open(tokens, {
      budget: { processes: 1 },
      onSandboxEvent({ type }) {
        if (type === 'token') void run.box.exec('true').then(() => run.box.exec('true'))
      },
    })
    const error = await failure(run.turn('one'))
    expect(error).toMatchObject({
      code: 'budget_exhausted',
      message: expect.stringContaining('budget.processes'),
    })
    expect(typesOf(error.events).filter((type) => type === 'process.started')).toHaveLength(2)
  })

  it('ends the turn that exceeds its time', async () => {
    setting.onPrompt = waitingAgent
    const sandbox = await setting.client.create()
    const { id: sessionId } = await sandbox.openSession({ agent: 'in-process' })
    const resumeFrom = { sandboxId: sandbox.id, sessionId }
    const run = await setting.open(tokens, { resumeFrom, budget: { wallMs: 1_000 } })
    const error = await failure(run.turn('one'))
    expect([error.code, typesOf(error.events).at(-1)]).toEqual(['budget_exhausted', 'turn.finished'])
    await run.close()
    const { events } = await sandbox.journal.read({ types: ['limit.reached'] })
    expect(events).toMatchObject([{ run: run.id, data: { limit: 'run.wallMs', max: 1_000 } }])
    await setting.client.destroy(sandbox.id)
  })

  it('sends no prompt after its time', async () => {
    const prompts: string[] = []
    setting.onPrompt = (prompt) => {
      prompts.push(prompt)
      return []
    }
    await using run = await setting.open(tokens, { budget: { wallMs: 700 } })
    while ((await failureOf(run.turn('more'))) === 'ok') await new Promise(setImmediate)
    await expect(failureOf(run.turn('last'))).resolves.toBe('budget_exhausted')
    expect(prompts).not.toContain('last')
  })

  it('sends no prompt beyond its turns', async () => {
    const prompts: string[] = []
    setting.onPrompt = (prompt) => {
      prompts.push(prompt)
      return []
    }
    const { limits } = await breach({ turns: 1 }, async (run) => {
      await run.turn('one')
      return run.turn('two')
    })
    expect(limits).toMatchObject([{ limit: 'run.turns', max: 1 }])
    expect(prompts).toEqual(['one'])
  })

  const limits: readonly (readonly [keyof RunBudget, RunBudget])[] = [
    ['turns', { turns: 1 }],
    ['wallMs', { wallMs: 1_500 }],
    ['tokens', { tokens: 10 }],
    ['cost', { cost: 1 }],
    ['outputBytes', { outputBytes: 100 }],
    ['processes', { processes: 0 }],
  ]
  it.for(limits)(
    'leaves no process of the run when it exceeds %s, and records it once',
    async ([limit, budget], context) => {
      setting.needs(context, 'commands')
      const spawned = Promise.withResolvers<void>()
      setting.onPrompt = async function* (_prompt, { signal }) {
        yield token('go')
        await spawned.promise
        if (limit === 'turns') return
        yield { type: 'llm_call', data: { inputTokens: 20, outputTokens: 40, costUsd: 2 } }
        yield 'a long text '.repeat(20)
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      }
      const sandbox = await setting.client.create()
      const { id: sessionId } = await sandbox.openSession({ agent: 'in-process' })
      await using run = await setting.open(tokens, {
        resumeFrom: { sandboxId: sandbox.id, sessionId },
        budget,
        onSandboxEvent({ type }) {
          if (type === 'token') void run.box.spawn('sleep 600 & sleep 600').then(() => spawned.resolve())
        },
      })
      if (limit === 'turns') await run.turn('one')
      const error = await failure(run.turn('more'))
      expect(error).toMatchObject({
        code: 'budget_exhausted',
        message: expect.stringContaining(`budget.${limit}`),
      })
      expect(typesOf(error.events).includes('token')).toBe(limit !== 'turns')
      const running = (await sandbox.processes.list()).filter(({ state }) => state === 'running')
      expect(running).toEqual([])
      expect(await failureOf(run.turn('again'))).toBe('budget_exhausted')
      const { events } = await sandbox.journal.read({ types: ['limit.reached'] })
      expect(events).toMatchObject([{ run: run.id, data: { limit: `run.${limit}` } }])
      await setting.client.destroy(sandbox.id)
    },
  )
})
