import { isVitrineError } from '@vitrine/protocol'
import { type Deliverable, type SandboxEvent, SandboxRunAbortError } from '@vitrine/runtime'
import { expect, it, vi } from 'vitest'
import {
  agentRun,
  describeRuns,
  failure,
  token,
  tokens,
  typesOf,
  waitingAgent,
} from './sandbox-run-setting.ts'

const artifact: Deliverable<string> = {
  kind: 'artifact',
  path: 'out/report.md',
  fromArtifact: (text, events) => `${text} after ${events.length > 0 ? 'events' : 'nothing'}`,
}

describeRuns((setting) => {
  it('reuses its sandbox and its session, and has every event of every turn once and in order', async () => {
    setting.onPrompt = (prompt, { round }) => [token(`${round} ${prompt}`)]
    await using run = await setting.open(tokens)
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
    setting.onPrompt = () => [token('text'), { type: 'error', data: { message: 'of the provider' } }]
    const seen: { readonly line: string; readonly seq: number | undefined }[] = []
    await using run = await setting.open(tokens, {
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
    setting.onPrompt = waitingAgent
    const cancel = new AbortController()
    await using run = await setting.open(tokens, {
      onSandboxEvent({ type }) {
        if (type === 'token') cancel.abort()
      },
    })
    expect(typesOf((await failure(run.start('one', { signal: cancel.signal }))).events)).toContain('token')
  })

  it('is not changed by an observer that throws, rejects, mutates or never settles', async () => {
    setting.onPrompt = () => [token('kept')]
    const errors: unknown[] = []
    let calls = 0
    await using run = await setting.open(tokens, {
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
    setting.onPrompt = () => [{ type: 'token', data }]
    const spoil = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const inner of Object.values(value)) spoil(inner)
      for (const key of Object.keys(value)) Reflect.deleteProperty(value, key)
    }
    const seen: SandboxEvent[] = []
    await using run = await setting.open(tokens, { onSandboxEvent: spoil })
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
    setting.onPrompt = () => [token('one'), token('two'), token('three')]
    const codes: unknown[] = []
    const onHookError = (error: unknown) => codes.push(isVitrineError(error) ? error.code : 'other')
    await using run = await setting.open(tokens, { hooks: { onHookError } })
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
    setting.needs(context, 'files')
    setting.onPrompt = () => [token('done')]
    await using run = await setting.open(artifact, {
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
    setting.needs(context, 'files')
    setting.onPrompt = () => [token('done')]
    await using run = await setting.open(artifact, {
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
    setting.needs(context, 'files')
    setting.onPrompt = () => [token('done')]
    await using run = await setting.open(artifact, { beforeStart: ({ box }) => prepare(box as never) })
    const error = await failure(run.start('one'))
    expect(error.code).toBe(code)
    expect(isVitrineError(error.readError) && error.readError.code).toBe(code)
    expect(typesOf(error.events)).toContain('token')
    expect(error.cursor).toBeTypeOf('string')
  })

  it('reads an artifact once if the function that takes it throws', async (context) => {
    setting.needs(context, 'files')
    setting.onPrompt = () => []
    let calls = 0
    const broken: Deliverable<never> = {
      kind: 'artifact',
      path: 'report.md',
      fromArtifact() {
        calls += 1
        throw new Error('not JSON')
      },
    }
    await using run = await setting.open(broken, {
      beforeStart: ({ box }) => box.files.write('report.md', 'x'),
    })
    const error = await failure(run.start('one'))
    expect([error.code, error.message, error.readError, calls]).toEqual([
      'run_failed',
      'not JSON',
      undefined,
      1,
    ])
  })

  it('refuses an artifact that is too large, and says which limit to raise', async (context) => {
    setting.needs(context, 'files')
    setting.onPrompt = () => []
    await using run = await setting.open(artifact, {
      maxArtifactBytes: 4,
      beforeStart: ({ box }) => box.files.write('out/report.md', 'written'),
    })
    const { code, hint } = await failure(run.start('one'))
    expect([code, hint.includes('maxArtifactBytes')]).toEqual(['artifact_too_large', true])
  })

  it('refuses an artifact of a gigabyte with its default limit, with the events of the turn', async (context) => {
    setting.needs(context, 'commands')
    setting.onPrompt = () => [token('done')]
    await using run = await setting.open(artifact, {
      agentRun: { ...agentRun, prepareBox: (box) => box.exec('mkdir out && truncate -s 1G out/report.md') },
    })
    const error = await failure(run.start('one'))
    expect([error.code, typesOf(error.events).includes('token')]).toEqual(['artifact_too_large', true])
  })

  it('fails with the error of a sandbox that cannot be created, leaves none, and starts again', async (context) => {
    setting.needs(context, 'commands')
    setting.onPrompt = () => [token('done')]
    const setup = ['test -e /var/tmp/no-such-file']
    await using run = await setting.open(tokens, { sandbox: { workspace: { setup } } })
    const error = await failure(run.start('one'))
    expect([isVitrineError(error.cause) && error.cause.code === error.code, error.events]).toEqual([true, []])
    expect(await setting.client.list()).toEqual([])
    expect((await failure(run.start('one'))).code).toBe(error.code)
  })

  it('carries the events before an abort', async () => {
    setting.onPrompt = waitingAgent
    const abort = new AbortController()
    await using run = await setting.open(artifact, {
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
    await using run = await setting.open(tokens, { signal: AbortSignal.abort() })
    const error = await failure(run.start('one'))
    expect([error.name, error.events]).toEqual(['AbortError', []])
  })

  it('keeps the events and the last error of a read when it is aborted between two reads', async (context) => {
    setting.needs(context, 'files')
    setting.onPrompt = () => [token('done')]
    const abort = new AbortController()
    await using run = await setting.open(artifact, { signal: abort.signal, readRetryDelayMs: 600_000 })
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
    setting.onPrompt = async function* (_prompt, { round }) {
      yield token(`${round}`)
      if (round === 0) throw new Error('The model is gone.')
    }
    await using run = await setting.open(tokens)
    const error = await failure(run.start('one'))
    expect([error.code, error.message.includes('The model is gone.')]).toEqual(['agent_failed', true])
    expect(typesOf(error.events)).toContain('token')
    expect((await run.resume('two')).out).toEqual(['1'])
  })

  it('has one turn at a time, one start, and none after it is closed', async () => {
    setting.onPrompt = waitingAgent
    const run = await setting.open(tokens)
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
    const run = await setting.open(tokens, {
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
    setting.onPrompt = (prompt) => [token(prompt)]
    let fails = true
    const profile = { ...agentRun.profile, instructions: 'Be brief.' }
    const taskToPrompt = (task: string) => {
      if (fails) throw new Error('no prompt')
      return task
    }
    await using run = await setting.open(tokens, { agentRun: { ...agentRun, profile, taskToPrompt } })
    expect((await failure(run.start('one'))).message).toBe('no prompt')
    expect(run.spend.turns).toBe(0)
    fails = false
    expect((await run.start('one')).out).toEqual(['Be brief.\n\none'])
  })

  it('holds as many events as it may, and says how many more there were', async () => {
    setting.onPrompt = () => [token('one'), token('two')]
    const seen: SandboxEvent[] = []
    await using run = await setting.open(tokens, {
      maxEvents: 3,
      onSandboxEvent: (event) => void seen.push(event),
    })
    const { events, omittedEvents, cursor } = await run.start('one')
    expect(events).toHaveLength(3)
    expect(seen).toHaveLength(3 + (omittedEvents ?? 0))
    const rest = await run.box.journal.read({ after: cursor, types: ['turn.finished'] })
    expect(rest.events).toEqual([])
  })
})
