import { type Capabilities, isVitrineError, type SandboxClient } from '@vitrine/protocol'
import {
  type Deliverable,
  type OpenSandboxRunOptions,
  openSandboxRun,
  type RunBudget,
  type RunHookEvent,
  type SandboxEvent,
  SandboxRunAbortError,
  SandboxRunError,
} from '@vitrine/runtime'
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest'
import { type RunClient, runClients } from './sandbox-run-clients.ts'

const agentRun = { name: 'writer', profile: { agent: 'in-process' }, taskToPrompt: (task: string) => task }
const token = (text: string) => ({ type: 'token', data: { text } })
const typesOf = (events: readonly SandboxEvent[]) => events.map(({ type }) => type)
const tokens: Deliverable<unknown> = {
  kind: 'events',
  fromEvents: (events) => events.flatMap(({ type, data }) => (type === 'token' ? [data.text] : [])),
}
const artifact: Deliverable<string> = {
  kind: 'artifact',
  path: 'out/report.md',
  fromArtifact: (text, events) => `${text} after ${events.length > 0 ? 'events' : 'nothing'}`,
}

async function failure(turn: Promise<unknown>): Promise<SandboxRunError> {
  const error = await turn.then(
    () => new Error('It succeeded.'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof SandboxRunError)) throw error
  return error
}

async function failureOf(turn: Promise<unknown>): Promise<string> {
  return turn.then(
    () => 'ok',
    (error: unknown) => (isVitrineError(error) ? error.code : String(error)),
  )
}

describe.each(runClients)('a run with sandboxes %s', (_, openClient) => {
  let opened: RunClient
  let client: SandboxClient
  let capabilities: Capabilities
  beforeAll(async () => {
    opened = await openClient()
    client = opened.client
    const sandbox = await client.create()
    capabilities = sandbox.capabilities
    await client.destroy(sandbox.id)
  }, 60_000)
  afterAll(() => opened.close())
  /** A case leaves no sandbox behind. */
  afterEach(async () => {
    const left = (await client.list()).filter(({ state }) => state !== 'destroyed')
    expect(left).toEqual([])
  })

  const needs = ({ skip }: TestContext, capability: 'files' | 'commands') =>
    skip(!capabilities[capability], `capabilities.${capability} is false`)

  const open = <Out>(deliverable: Deliverable<Out>, options: Partial<OpenSandboxRunOptions> = {}) =>
    openSandboxRun(client, { agentRun, readRetryDelayMs: 1, ...options }, deliverable)

  /** An agent that says one token and waits until it is cancelled. */
  const waitingAgent = async function* (_prompt: string, { signal }: { readonly signal: AbortSignal }) {
    yield token('first')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }

  it('reuses its sandbox and its session, and has every event of every turn once and in order', async () => {
    opened.onPrompt = (prompt, { round }) => [token(`${round} ${prompt}`)]
    await using run = await open(tokens)
    const first = await run.start('one')
    const [id, session] = [run.box.id, run.sessionId]
    await expect(run.start('again')).rejects.toMatchObject({ code: 'run_started' })
    const second = await run.resume('two')
    const third = await run.turn('three')
    expect([first.out, second.out, third.out]).toEqual([['0 one'], ['1 two'], ['2 three']])
    expect([run.box.id, run.sessionId]).toEqual([id, session])
    const seqs = [first, second, third].flatMap(({ events }) => events.map(({ seq }) => seq))
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    expect(typesOf(second.events).at(-1)).toBe('turn.finished')
    const rest = await run.box.journal.read({ after: third.cursor })
    expect(rest.events.map(({ type }) => type)).not.toContain('turn.finished')
  })

  it('shows its observer every event of start and resume as it happens, with the turn', async () => {
    opened.onPrompt = () => [token('text'), { type: 'error', data: { message: 'of the provider' } }]
    const seen: { readonly line: string; readonly seq: number | undefined }[] = []
    await using run = await open(tokens, {
      runId: 'run_seen',
      onSandboxEvent({ type, seq }, meta) {
        expect(meta).toMatchObject({
          runId: 'run_seen',
          sandboxId: run.box.id,
          sessionId: run.sessionId,
          seq,
        })
        seen.push({ line: `${meta.turnIndex} ${meta.turnKind} ${meta.agentRunName} ${type}`, seq })
      },
    })
    const first = await run.start('one')
    const second = await run.resume('two')
    expect(seen.map(({ line }) => line)).toEqual([
      ...typesOf(first.events).map((type) => `0 start writer ${type}`),
      ...typesOf(second.events).map((type) => `1 resume writer ${type}`),
    ])
    expect(seen.filter(({ line }) => line.endsWith(' error'))).toHaveLength(2)
  })

  it('shows its observer an event before the turn ends', async () => {
    opened.onPrompt = waitingAgent
    const cancel = new AbortController()
    await using run = await open(tokens, {
      onSandboxEvent({ type }) {
        if (type === 'token') cancel.abort()
      },
    })
    expect(typesOf((await failure(run.start('one', { signal: cancel.signal }))).events)).toContain('token')
  })

  it('is not changed by an observer that throws, rejects, mutates or never settles', async () => {
    opened.onPrompt = () => [token('kept')]
    const errors: unknown[] = []
    let calls = 0
    await using run = await open(tokens, {
      hooks: { onHookError: (error, { hook, errors: count }) => errors.push([hook, count, String(error)]) },
      onSandboxEvent(event) {
        calls += 1
        Object.assign(event, { type: 'changed' })
        Object.assign(event.data, { text: 'changed' })
        if (calls === 1) throw new Error('thrown')
        if (calls === 2) return Promise.reject(new Error('rejected'))
        return new Promise(() => undefined)
      },
    })
    const { out, events } = await run.start('one')
    expect(out).toEqual(['kept'])
    expect(calls).toBe(events.length)
    await vi.waitFor(() =>
      expect(errors).toEqual([
        ['onSandboxEvent', 1, 'Error: thrown'],
        ['onSandboxEvent', 2, 'Error: rejected'],
      ]),
    )
  })

  it('gives every observer a copy of its own, which it may change at any depth', async () => {
    const data = { list: [{ inner: { text: 'kept' } }], nested: { more: ['kept'] } }
    opened.onPrompt = () => [{ type: 'token', data }]
    const spoil = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const inner of Object.values(value)) spoil(inner)
      for (const key of Object.keys(value)) Reflect.deleteProperty(value, key)
    }
    const seen: SandboxEvent[] = []
    await using run = await open(tokens, { onSandboxEvent: spoil })
    run.observeEvents((event, meta) => {
      seen.push(structuredClone(event))
      spoil(event)
      spoil(meta)
    })
    run.observeEvents(spoil)
    const { events } = await run.start('one')
    await vi.waitFor(() => expect(seen).toEqual(events))
    expect(events.find(({ type }) => type === 'token')?.data).toEqual(data)
    const recorded = await run.box.journal.read({ types: ['foreign.event'] })
    expect(recorded.events).toMatchObject([{ data: { type: 'token', data } }])
  })

  it('calls an ordered observer with one event after the other, and reports events that do not fit', async () => {
    opened.onPrompt = () => [token('one'), token('two'), token('three')]
    const codes: unknown[] = []
    const onHookError = (error: unknown) => codes.push(isVitrineError(error) ? error.code : 'other')
    await using run = await open(tokens, { hooks: { onHookError } })
    const all: (number | undefined)[] = []
    let active = 0
    run.observeEvents(
      async ({ seq }) => {
        expect(++active).toBe(1)
        await new Promise(setImmediate)
        active -= 1
        all.push(seq)
      },
      { buffer: 10_000 },
    )
    const [few, dropped]: [(number | undefined)[], (number | undefined)[]] = [[], []]
    const held = Promise.withResolvers<void>()
    const slow = ({ seq }: SandboxEvent) => {
      few.push(seq)
      return held.promise
    }
    const onOverflow = async ({ seq }: SandboxEvent) => {
      dropped.push(seq)
      throw new Error('rejected')
    }
    run.observeEvents(slow, { buffer: 2, onOverflow })
    run.observeEvents(() => held.promise, { buffer: 1 })
    const { events } = await run.start('one')
    const seqs = events.map(({ seq }) => seq)
    expect(codes.filter((code) => code === 'reader_fell_behind')).toHaveLength(seqs.length - 2)
    await vi.waitFor(() => expect(all).toEqual(seqs))
    held.resolve()
    await vi.waitFor(() => expect(few).toEqual(seqs.slice(0, 3)))
    expect(dropped).toEqual(seqs.slice(3))
  })

  it('returns its artifact and the files that the turn changed', async (context) => {
    needs(context, 'files')
    opened.onPrompt = () => [token('done')]
    await using run = await open(artifact, {
      beforeStart: ({ box }) => box.files.write('out/report.md', 'written'),
    })
    const { out, changedFiles, usage, cost } = await run.start('one')
    expect(out).toBe('written after events')
    expect(changedFiles).toMatchObject([
      { path: 'out', change: 'created' },
      { path: 'out/report.md', change: 'created' },
    ])
    expect([usage, cost], 'a function reports neither').toEqual([undefined, undefined])
    expect((await run.resume('two')).changedFiles).toEqual([])
  })

  it('reads an artifact again that appears late', async (context) => {
    needs(context, 'files')
    opened.onPrompt = () => [token('done')]
    await using run = await open(artifact, {
      onSandboxEvent({ type }) {
        if (type === 'turn.finished') void run.box.files.write('out/report.md', 'late')
      },
      readRetryDelayMs: 200,
    })
    expect((await run.start('one')).out).toBe('late after events')
  })

  it.for([
    ['is missing', 'file_not_found', (_: never) => undefined] as const,
    [
      'is a directory',
      'file_is_directory',
      (box: { files: { mkdir(path: string, o: object): unknown } }) =>
        box.files.mkdir('out/report.md', { parents: true }),
    ] as const,
  ])('fails with the events of the turn when its artifact %s', async ([_, code, prepare], context) => {
    needs(context, 'files')
    opened.onPrompt = () => [token('done')]
    await using run = await open(artifact, { beforeStart: ({ box }) => prepare(box as never) })
    const error = await failure(run.start('one'))
    expect(error.code).toBe(code)
    expect(isVitrineError(error.readError) && error.readError.code).toBe(code)
    expect(typesOf(error.events)).toContain('token')
    expect(error.cursor).toBeTypeOf('string')
  })

  it('reads an artifact once if the function that takes it throws', async (context) => {
    needs(context, 'files')
    opened.onPrompt = () => []
    let calls = 0
    const broken: Deliverable<never> = {
      kind: 'artifact',
      path: 'report.md',
      fromArtifact() {
        calls += 1
        throw new Error('not JSON')
      },
    }
    await using run = await open(broken, { beforeStart: ({ box }) => box.files.write('report.md', 'x') })
    const error = await failure(run.start('one'))
    expect([error.code, error.message, error.readError, calls]).toEqual([
      'run_failed',
      'not JSON',
      undefined,
      1,
    ])
  })

  it('refuses an artifact that is too large, and says which limit to raise', async (context) => {
    needs(context, 'files')
    opened.onPrompt = () => []
    await using run = await open(artifact, {
      maxArtifactBytes: 4,
      beforeStart: ({ box }) => box.files.write('out/report.md', 'written'),
    })
    const { code, hint } = await failure(run.start('one'))
    expect([code, hint.includes('maxArtifactBytes')]).toEqual(['artifact_too_large', true])
  })

  it('carries the events before an abort', async () => {
    opened.onPrompt = waitingAgent
    const abort = new AbortController()
    await using run = await open(artifact, {
      signal: abort.signal,
      onSandboxEvent({ type }) {
        if (type === 'token') abort.abort()
        throw new Error('of the observer')
      },
    })
    const error = await failure(run.start('one'))
    expect(error).toBeInstanceOf(SandboxRunAbortError)
    expect([error.name, error.code, error.readError]).toEqual(['AbortError', 'cancelled', undefined])
    expect(typesOf(error.events)).toContain('token')
    expect(typesOf(error.events).at(-1)).toBe('turn.finished')
  })

  it('carries no events when it was aborted before it began', async () => {
    await using run = await open(tokens, { signal: AbortSignal.abort() })
    const error = await failure(run.start('one'))
    expect([error.name, error.events]).toEqual(['AbortError', []])
  })

  it('keeps the events and the last error of a read when it is aborted between two reads', async (context) => {
    needs(context, 'files')
    opened.onPrompt = () => [token('done')]
    const abort = new AbortController()
    await using run = await open(artifact, { signal: abort.signal, readRetryDelayMs: 600_000 })
    const turn = failure(run.start('one'))
    await vi.waitFor(async () => {
      const { events } = await run.box.journal.read({ types: ['operation.finished'] })
      expect(JSON.stringify(events)).toContain('file_not_found')
    })
    abort.abort()
    const error = await turn
    expect(error.name).toBe('AbortError')
    expect(isVitrineError(error.readError) && error.readError.code).toBe('file_not_found')
    expect(typesOf(error.events)).toContain('token')
  })

  it('carries the events of a turn whose agent failed, and goes on with the next one', async () => {
    opened.onPrompt = async function* (_prompt, { round }) {
      yield token(`${round}`)
      if (round === 0) throw new Error('The model is gone.')
    }
    await using run = await open(tokens)
    const error = await failure(run.start('one'))
    expect([error.code, error.message.includes('The model is gone.')]).toEqual(['agent_failed', true])
    expect(typesOf(error.events)).toContain('token')
    expect((await run.resume('two')).out).toEqual(['1'])
  })

  it('has one turn at a time, one start, and none after it is closed', async () => {
    opened.onPrompt = waitingAgent
    const run = await open(tokens)
    expect(() => run.box).toThrow('no sandbox before its first turn')
    expect(() => run.sessionId).toThrow('no sandbox before its first turn')
    await expect(run.resume('early')).rejects.toMatchObject({ code: 'run_not_started' })
    const started = Promise.withResolvers<void>()
    run.observeEvents(({ type }) => type === 'token' && started.resolve())
    const turn = failure(run.start('one'))
    await started.promise
    await expect(run.start('again')).rejects.toMatchObject({ code: 'run_busy' })
    await expect(run.resume('at once')).rejects.toMatchObject({ code: 'run_busy' })
    const closing = run.close()
    expect(run.close()).toBe(closing)
    expect((await turn).name).toBe('AbortError')
    await closing
    await expect(run.turn('late')).rejects.toMatchObject({ code: 'run_closed' })
  })

  it('closes while its sandbox is prepared, also if the preparation never ends', async () => {
    const preparing = Promise.withResolvers<void>()
    const run = await open(tokens, {
      beforeStart() {
        preparing.resolve()
        return new Promise(() => undefined)
      },
    })
    const turn = failure(run.start('one'))
    await preparing.promise
    await expect(run.start('again')).rejects.toMatchObject({ code: 'run_busy' })
    await run.close()
    expect((await turn).name).toBe('AbortError')
  })

  it('counts no turn whose prompt cannot be made, and starts again', async () => {
    opened.onPrompt = (prompt) => [token(prompt)]
    let fails = true
    const profile = { ...agentRun.profile, instructions: 'Be brief.' }
    const taskToPrompt = (task: string) => {
      if (fails) throw new Error('no prompt')
      return task
    }
    await using run = await open(tokens, { agentRun: { ...agentRun, profile, taskToPrompt } })
    expect((await failure(run.start('one'))).message).toBe('no prompt')
    expect(run.spend.turns).toBe(0)
    fails = false
    expect((await run.start('one')).out).toEqual(['Be brief.\n\none'])
  })

  it('holds as many events as it may, and says how many more there were', async () => {
    opened.onPrompt = () => [token('one'), token('two')]
    const seen: SandboxEvent[] = []
    await using run = await open(tokens, { maxEvents: 3, onSandboxEvent: (event) => void seen.push(event) })
    const { events, omittedEvents, cursor } = await run.start('one')
    expect(events).toHaveLength(3)
    expect(seen).toHaveLength(3 + (omittedEvents ?? 0))
    const rest = await run.box.journal.read({ after: cursor, types: ['turn.finished'] })
    expect(rest.events).toEqual([])
  })

  it('ends as interrupted when another caller destroys its sandbox, on record and for its hooks', async () => {
    opened.onPrompt = () => []
    const ends: unknown[] = []
    const onEvent = ({ target, phase, outcome }: RunHookEvent) =>
      target === 'agent.run' && phase === 'after' && ends.push(outcome)
    const run = await open(tokens, { hooks: { onEvent } })
    await run.start('one')
    const { box } = run
    await client.destroy(box.id)
    expect(await failure(run.resume('two'))).toMatchObject({
      code: 'interrupted',
      message: expect.stringContaining('destroyed'),
    })
    await run.close()
    expect(ends).toEqual(['interrupted'])
    expect((await box.journal.read({ types: ['run.*', 'sandbox.destroyed'] })).events).toMatchObject([
      { type: 'run.started', run: run.id },
      { type: 'run.finished', run: run.id, data: { outcome: 'interrupted' } },
      { type: 'sandbox.destroyed' },
    ])
  })

  it.each([
    [{ budget: { turns: -1 } }, 'budget.turns'],
    [{ budget: { wallMs: Number.NaN } }, 'budget.wallMs'],
    [{ maxArtifactBytes: '1' }, 'maxArtifactBytes'],
    [{ onSandboxEvents: () => undefined }, 'onSandboxEvent'],
    [{ promptOptions: { signal: AbortSignal.abort() } }, 'promptOptions: unknown key "signal"'],
    [{ promptOptions: { turn: 'turn_1' } }, 'promptOptions: unknown key "turn"'],
    [{ agentRun: { ...agentRun, profile: {} } }, 'agentRun.profile.agent'],
  ])('refuses options that it does not know: %j', async (options, named) => {
    const opening = openSandboxRun(client, { agentRun, ...options } as never, tokens)
    await expect(opening).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(named),
    })
  })

  it('closes before its first turn without a sandbox', async () => {
    const run = await open(tokens)
    await run.close()
    await expect(run.start('late')).rejects.toMatchObject({ code: 'run_closed' })
  })

  it('prepares its sandbox and calls beforeStart before the first prompt, and starts again after it failed', async () => {
    const steps: string[] = []
    opened.onPrompt = () => {
      steps.push('prompt')
      return []
    }
    let fails = true
    await using run = await open(tokens, {
      agentRun: { ...agentRun, prepareBox: () => void steps.push('prepareBox') },
      beforeStart({ sessionId }) {
        steps.push(`beforeStart ${sessionId !== ''}`)
        if (fails) throw new Error('not ready')
      },
    })
    const error = await failure(run.start('one'))
    expect([error.code, error.message, error.events]).toEqual(['run_failed', 'not ready', []])
    fails = false
    await run.start('one')
    expect(steps).toEqual(['prepareBox', 'beforeStart true', 'prepareBox', 'beforeStart true', 'prompt'])
  })

  it.each([
    ['done', [token('text'), { type: 'result', data: {} }, { type: 'done', data: {} }]],
    ['a result alone', [token('text'), { type: 'result', data: {} }]],
    ['nothing', []],
  ])(
    'ends a turn with its agent, which is on record, and not with its last event: %s',
    async (_last, said) => {
      opened.onPrompt = () => said
      await using run = await open({ kind: 'events', fromEvents: typesOf })
      const { outcome, out } = await run.start('one')
      expect([outcome, out.at(-1)]).toEqual(['ok', 'turn.finished'])
      expect(out).toEqual(expect.arrayContaining(said.map(({ type }) => type)))
    },
  )

  it('tells its hooks the steps of the run and of its turns, whatever the hooks throw', async () => {
    opened.onPrompt = async function* (_prompt, { round }) {
      yield token(`${round}`)
      if (round === 1) throw new Error('The model is gone.')
    }
    const steps: string[] = []
    const errors: unknown[] = []
    const run = await open(tokens, {
      hooks: {
        onEvent({ target, phase, turnIndex, turnKind, outcome, error }) {
          const code = isVitrineError(error) ? error.code : undefined
          steps.push(
            [target, phase, turnIndex, turnKind, outcome ?? code]
              .filter((part) => part !== undefined)
              .join(' '),
          )
          throw new Error('of the hook')
        },
        onHookError: (_error, { hook }) => errors.push(hook),
      },
    })
    await run.start('one')
    await failure(run.resume('two'))
    await run.close()
    expect(steps).toEqual([
      'agent.turn before 0 start',
      'agent.run before',
      'agent.turn after 0 start ok',
      'agent.turn before 1 resume',
      'agent.turn error 1 resume agent_failed',
      'agent.run after failed',
    ])
    await vi.waitFor(() => expect(errors).toEqual(steps.map(() => 'onEvent')))
  })

  it('gives the actor and the run to every event of its turns', async () => {
    opened.onPrompt = () => [token('done')]
    await using run = await open(tokens, { runId: 'run_mine', promptOptions: { actor: 'someone' } })
    await run.start('one')
    await run.resume('two')
    const { events } = await run.box.journal.read({ types: ['turn.*', 'foreign.event'] })
    for (const event of events) expect(event).toMatchObject({ run: 'run_mine', actor: 'someone' })
    expect(events).toHaveLength(6)
  })

  it('continues the session of an earlier run, and leaves its sandbox', async () => {
    opened.onPrompt = (prompt, { round }) => [token(`${round} ${prompt}`)]
    const sandbox = await client.create()
    const session = await sandbox.openSession({ agent: 'in-process' })
    await session.prompt('before')
    const resumeFrom = { sandboxId: sandbox.id, sessionId: session.id }
    const run = await open(tokens, { resumeFrom })
    expect((await run.turn('again')).out).toEqual(['1 again'])
    await run.close()
    await using next = await open(tokens, { resumeFrom })
    await next.turn('more')
    expect((await sandbox.journal.read({ types: ['run.started'] })).events).toMatchObject([
      { run: run.id, session: session.id, data: { name: 'writer', agent: 'in-process' } },
      { run: next.id, session: session.id, data: { continues: run.id } },
    ])
    expect(await sandbox.lifecycle.running()).toBe(true)
    const unknown = await open(tokens, { resumeFrom: { ...resumeFrom, sessionId: 'ses_unknown' } })
    expect((await failure(unknown.turn('again'))).code).toBe('session_not_found')
    await unknown.close()
    await client.destroy(sandbox.id)
  })

  it('is on record with one start and one end', async () => {
    opened.onPrompt = () => []
    const run = await open(tokens)
    await run.start('one')
    const { journal } = run.box
    expect((await journal.read({ types: ['run.*'] })).events).toMatchObject([
      { type: 'run.started', run: run.id, data: { name: 'writer', agent: 'in-process' } },
    ])
    const ended = journal.tail({ types: ['run.finished'] }).next()
    await run.close()
    expect((await ended).value).toMatchObject({ run: run.id, data: { outcome: 'ok' } })
  })

  describe('with a budget', () => {
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
      await using run = await open(tokens, { budget })
      const error = await failure(drive(run) as Promise<never>)
      expect(error.code).toBe('budget_exhausted')
      const { events } = await run.box.journal.read({ types: ['limit.reached'] })
      return { error, limits: events.map(({ data }) => data) }
    }

    it('ends the turn that exceeds its output', async () => {
      opened.onPrompt = talkative
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
        opened.onPrompt = async function* (_prompt, { signal }) {
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
      needs(context, 'commands')
      opened.onPrompt = waitingAgent
      await using run = await open(tokens, {
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
      opened.onPrompt = waitingAgent
      const sandbox = await client.create()
      const { id: sessionId } = await sandbox.openSession({ agent: 'in-process' })
      const resumeFrom = { sandboxId: sandbox.id, sessionId }
      const run = await open(tokens, { resumeFrom, budget: { wallMs: 1_000 } })
      const error = await failure(run.turn('one'))
      expect([error.code, typesOf(error.events).at(-1)]).toEqual(['budget_exhausted', 'turn.finished'])
      await run.close()
      const { events } = await sandbox.journal.read({ types: ['limit.reached'] })
      expect(events).toMatchObject([{ run: run.id, data: { limit: 'run.wallMs', max: 1_000 } }])
      await client.destroy(sandbox.id)
    })

    it('sends no prompt after its time', async () => {
      const prompts: string[] = []
      opened.onPrompt = (prompt) => {
        prompts.push(prompt)
        return []
      }
      await using run = await open(tokens, { budget: { wallMs: 700 } })
      while ((await failureOf(run.turn('more'))) === 'ok') await new Promise(setImmediate)
      await expect(failureOf(run.turn('last'))).resolves.toBe('budget_exhausted')
      expect(prompts).not.toContain('last')
    })

    it('sends no prompt beyond its turns', async () => {
      const prompts: string[] = []
      opened.onPrompt = (prompt) => {
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
        needs(context, 'commands')
        const spawned = Promise.withResolvers<void>()
        opened.onPrompt = async function* (_prompt, { signal }) {
          yield token('go')
          await spawned.promise
          if (limit === 'turns') return
          yield { type: 'llm_call', data: { inputTokens: 20, outputTokens: 40, costUsd: 2 } }
          yield 'a long text '.repeat(20)
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
        }
        const sandbox = await client.create()
        const { id: sessionId } = await sandbox.openSession({ agent: 'in-process' })
        await using run = await open(tokens, {
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
        await client.destroy(sandbox.id)
      },
    )
  })
})
