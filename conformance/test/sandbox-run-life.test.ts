import { isVitrineError, type Sandbox } from '@vitrine/protocol'
import { openSandboxRun, type RunHookEvent, SandboxRunAbortError } from '@vitrine/runtime'
import { expect, it, vi } from 'vitest'
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
  it.each<[string, (box: Sandbox, session: string) => Promise<unknown>, string]>([
    ['destroys its sandbox', (box) => setting.client.destroy(box.id), 'cancelled interrupted'],
    ['cancels its turn', async (box, session) => (await box.sessions.get(session)).cancel(), 'cancelled'],
  ])('is not aborted by itself when another caller %s during a turn', async (_name, end, codes) => {
    setting.onPrompt = waitingAgent
    await using run = await setting.open(tokens, {
      onSandboxEvent({ type }) {
        if (type === 'token') void end(run.box, run.sessionId)
      },
    })
    const error = await failure(run.start('one'))
    expect(error).not.toBeInstanceOf(SandboxRunAbortError)
    expect(codes.split(' ')).toContain(error.code)
    expect(typesOf(error.events)).toContain('token')
  })

  it('refuses a turn that one of its own hooks starts', async () => {
    setting.onPrompt = () => []
    const codes: Promise<string>[] = []
    await using run = await setting.open(tokens, {
      hooks: {
        onEvent({ phase }) {
          if (phase === 'before') codes.push(failureOf(run.turn('again')))
        },
      },
    })
    await run.start('one')
    expect(await Promise.all(codes)).toEqual(['run_busy', 'run_busy'])
  })

  it('continues a session again after its beforeStart failed', async () => {
    setting.onPrompt = () => [token('done')]
    const sandbox = await setting.client.create()
    const { id: sessionId } = await sandbox.openSession({ agent: 'in-process' })
    let fails = true
    const run = await setting.open(tokens, {
      resumeFrom: { sandboxId: sandbox.id, sessionId },
      beforeStart() {
        if (fails) throw new Error('not ready')
      },
    })
    expect((await failure(run.turn('one'))).message).toBe('not ready')
    fails = false
    expect((await run.turn('one')).out).toEqual(['done'])
    await run.close()
    expect((await sandbox.journal.read({ types: ['run.*'] })).events).toMatchObject([
      { type: 'run.started' },
      { type: 'run.finished', data: { outcome: 'failed' } },
      { type: 'run.started', run: run.id },
      { type: 'run.finished', run: run.id, data: { outcome: 'ok' } },
    ])
    await setting.client.destroy(sandbox.id)
  })

  it('refuses a session of another agent, and does not see other runs in its session', async () => {
    setting.onPrompt = (prompt) => [token(prompt)]
    const sandbox = await setting.client.create()
    const { id: sessionId } = await sandbox.openSession({ agent: 'in-process' })
    const resumeFrom = { sandboxId: sandbox.id, sessionId }
    const other = { ...agentRun, profile: { agent: 'claude' } }
    const refused = await setting.open(tokens, { resumeFrom, agentRun: other })
    expect(await failureOf(refused.turn('one'))).toBe('argument_invalid')
    await refused.close()
    const [one, two] = [
      await setting.open(tokens, { resumeFrom }),
      await setting.open(tokens, { resumeFrom }),
    ]
    await one.turn('of one')
    await two.turn('of two')
    expect((await one.turn('more of one')).out).toEqual(['more of one'])
    await Promise.all([one.close(), two.close()])
    await setting.client.destroy(sandbox.id)
  })

  it.each([undefined, '', ' \n', 7])('sends no prompt that is blank: %j', async (prompt) => {
    const taskToPrompt = () => prompt as string
    await using run = await setting.open(tokens, { agentRun: { ...agentRun, taskToPrompt } })
    expect(await failureOf(run.start('one'))).toBe('argument_invalid')
    expect([run.spend.turns, await setting.client.list()]).toEqual([0, []])
  })

  it.each([null, 7n, { type: 'count', data: { value: 7n } }])(
    'fails a turn whose agent says something that is no event: %s',
    async (said) => {
      let isReturned = false
      setting.onPrompt = async function* () {
        try {
          yield said as never
        } finally {
          isReturned = true
        }
      }
      await using run = await setting.open(tokens)
      expect((await failure(run.start('one'))).message).toContain('onPrompt: expected')
      await vi.waitFor(() => expect(isReturned).toBe(true))
    },
  )

  it('ends as interrupted when another caller destroys its sandbox, on record and for its hooks', async () => {
    setting.onPrompt = () => []
    const ends: unknown[] = []
    const onEvent = ({ target, phase, outcome }: RunHookEvent) =>
      target === 'agent.run' && phase === 'after' && ends.push(outcome)
    const run = await setting.open(tokens, { hooks: { onEvent } })
    await run.start('one')
    const { box } = run
    await setting.client.destroy(box.id)
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
    [{ resumeFrom: { sandboxId: 'a', sessionId: 'b' }, sandbox: {} }, 'sandbox'],
  ])('refuses options that it does not know: %j', async (options, named) => {
    const opening = openSandboxRun(setting.client, { agentRun, ...options } as never, tokens)
    await expect(opening).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(named),
    })
  })

  it('refuses missing arguments, and says which', async () => {
    const open = openSandboxRun as (...given: unknown[]) => Promise<unknown>
    for (const [given, named] of [
      [[], 'client'],
      [[setting.client], 'agentRun'],
      [[setting.client, { agentRun }], 'kind: expected'],
    ] as const)
      await expect(open(...given)).rejects.toMatchObject({
        code: 'argument_invalid',
        message: expect.stringContaining(named),
      })
  })

  it('closes before its first turn without a sandbox', async () => {
    const run = await setting.open(tokens)
    await run.close()
    await expect(run.start('late')).rejects.toMatchObject({ code: 'run_closed' })
  })

  it('prepares its sandbox and calls beforeStart before the first prompt, and starts again after it failed', async () => {
    const steps: string[] = []
    setting.onPrompt = () => {
      steps.push('prompt')
      return []
    }
    let fails = true
    await using run = await setting.open(tokens, {
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
      setting.onPrompt = () => said
      await using run = await setting.open({ kind: 'events', fromEvents: typesOf })
      const { outcome, out } = await run.start('one')
      expect([outcome, out.at(-1)]).toEqual(['ok', 'turn.finished'])
      expect(out).toEqual(expect.arrayContaining(said.map(({ type }) => type)))
    },
  )

  it('tells its hooks the steps of the run and of its turns, whatever the hooks throw', async () => {
    setting.onPrompt = async function* (_prompt, { round }) {
      yield token(`${round}`)
      if (round === 1) throw new Error('The model is gone.')
    }
    const steps: string[] = []
    const errors: unknown[] = []
    const run = await setting.open(tokens, {
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
    setting.onPrompt = () => [token('done')]
    await using run = await setting.open(tokens, { runId: 'run_mine', promptOptions: { actor: 'someone' } })
    await run.start('one')
    await run.resume('two')
    const { events } = await run.box.journal.read({ types: ['turn.*', 'foreign.event'] })
    for (const event of events) expect(event).toMatchObject({ run: 'run_mine', actor: 'someone' })
    expect(events).toHaveLength(6)
  })

  it('continues the session of an earlier run, and leaves its sandbox', async () => {
    setting.onPrompt = (prompt, { round }) => [token(`${round} ${prompt}`)]
    const sandbox = await setting.client.create()
    const session = await sandbox.openSession({ agent: 'in-process' })
    await session.prompt('before')
    const resumeFrom = { sandboxId: sandbox.id, sessionId: session.id }
    const run = await setting.open(tokens, { resumeFrom })
    expect((await run.turn('again')).out).toEqual(['1 again'])
    await run.close()
    await using next = await setting.open(tokens, { resumeFrom })
    await next.turn('more')
    expect((await sandbox.journal.read({ types: ['run.started'] })).events).toMatchObject([
      { run: run.id, session: session.id, data: { name: 'writer', agent: 'in-process' } },
      { run: next.id, session: session.id, data: { continues: run.id } },
    ])
    expect(await sandbox.lifecycle.running()).toBe(true)
    const unknown = await setting.open(tokens, { resumeFrom: { ...resumeFrom, sessionId: 'ses_unknown' } })
    expect((await failure(unknown.turn('again'))).code).toBe('session_not_found')
    await unknown.close()
    await setting.client.destroy(sandbox.id)
  })

  it('is on record with one start and one end', async () => {
    setting.onPrompt = () => []
    const run = await setting.open(tokens)
    await run.start('one')
    const { journal } = run.box
    expect((await journal.read({ types: ['run.*'] })).events).toMatchObject([
      { type: 'run.started', run: run.id, data: { name: 'writer', agent: 'in-process' } },
    ])
    const ended = journal.tail({ types: ['run.finished'] }).next()
    await run.close()
    expect((await ended).value).toMatchObject({ run: run.id, data: { outcome: 'ok' } })
  })
})
