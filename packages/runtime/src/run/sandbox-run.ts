import {
  isVitrineError,
  newId,
  type Outcome,
  type PromptResult,
  type Sandbox,
  type SandboxClient,
  toVitrineError,
  VitrineError,
} from '@vitrine/protocol'
import { notifyOne } from '@vitrine/protocol/primitives'
import {
  type BudgetBreach,
  breachOf,
  nothingSpent,
  type Spend,
  spendOfEvent,
  spendOfTurn,
} from '../budget/budget.ts'
import { OrderedObserver } from '../observe/ordered-observer.ts'
import { type Deliverable, readArtifact } from './deliverable.ts'
import { SandboxRunAbortError, SandboxRunError } from './evidence.ts'
import { openPlace, type RunPlace } from './open-place.ts'
import type {
  ObserveOptions,
  OpenSandboxRunOptions,
  RunHookEvent,
  SandboxEventMeta,
  TurnKind,
  TurnOptions,
  TurnResult,
} from './options.ts'
import type { SandboxEvent } from './sandbox-event.ts'
import { turnEvents } from './turn-events.ts'
import { TurnRecord } from './turn-record.ts'

const artifactAttempts = 4
const defaultArtifactBytes = 16 * 1024 * 1024
const defaultRetryMs = 1_000

type Observed = readonly [event: SandboxEvent, meta: SandboxEventMeta]

/** The signals and limits of the active turn. */
interface ActiveTurn {
  readonly signal: AbortSignal
  /** Ends the turn because of its budget. */
  readonly breached: AbortController
  breach: BudgetBreach | undefined
}

/** One sandbox and one session over any number of turns. The sandbox is created with the first turn. */
export class SandboxRun<Out, Task = string> {
  readonly id: string
  readonly #client: SandboxClient
  readonly #options: OpenSandboxRunOptions<Task>
  readonly #deliverable: Deliverable<Out>
  readonly #closing = new AbortController()
  readonly #observers = new Set<OrderedObserver<Observed>>()
  #place: RunPlace | undefined
  #active: Promise<unknown> | undefined
  #closed: Promise<void> | undefined
  #spend: Spend = nothingSpent
  /** When the first turn began, on the monotonic clock. */
  #began: number | undefined
  #cursor: string | undefined
  #lastOutcome: Outcome = 'ok'
  #hookErrors = 0

  constructor(
    client: SandboxClient,
    options: OpenSandboxRunOptions<Task>,
    deliverable: Deliverable<Out>,
  ) {
    this.id = options.runId ?? newId('run')
    this.#client = client
    this.#options = options
    this.#deliverable = deliverable
  }

  /** The sandbox; throws before the first turn. */
  get box(): Sandbox {
    return this.#requirePlace().box
  }

  /** The id of the session; throws before the first turn. */
  get sessionId(): string {
    return this.#requirePlace().session.id
  }

  /** What the run has used so far. */
  get spend(): Spend {
    return this.#spend
  }

  /** The first turn. */
  async start(task: Task, options?: TurnOptions): Promise<TurnResult<Out>> {
    if (this.#isStarted)
      throw new VitrineError('run_started', `The run ${this.id} has started: call resume or turn.`)
    return this.#exclusive('start', task, options)
  }

  /** A further turn of the same session. */
  async resume(task: Task, options?: TurnOptions): Promise<TurnResult<Out>> {
    if (!this.#isStarted)
      throw new VitrineError('run_not_started', `The run ${this.id} has no turn yet: call start or turn.`)
    return this.#exclusive('resume', task, options)
  }

  /** The first turn, or a further one. */
  async turn(task: Task, options?: TurnOptions): Promise<TurnResult<Out>> {
    return this.#exclusive(this.#isStarted ? 'resume' : 'start', task, options)
  }

  /**
   * Calls a handler with a copy of each event, one after the other, and awaits each call. Events that do not fit into the
   * buffer are dropped for it. Returns a function that removes it.
   */
  observeEvents(
    handler: (event: SandboxEvent, meta: SandboxEventMeta) => unknown,
    { buffer, onOverflow }: ObserveOptions = {},
  ): () => void {
    const observer = new OrderedObserver<Observed>(([event, meta]) => handler(event, meta), {
      ...(buffer !== undefined && { buffer }),
      ...(onOverflow && { onOverflow: ([event, meta]: Observed) => onOverflow(event, meta) }),
      onError: (error) => this.#reportHookError('observeEvents', error),
    })
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  /** Aborts and awaits the active turn, records the end of the run, and destroys a sandbox that the run created. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  get #isStarted(): boolean {
    return this.#spend.turns > 0 || this.#options.resumeFrom !== undefined
  }

  #requirePlace(): RunPlace {
    if (this.#place === undefined)
      throw new VitrineError('run_not_started', `The run ${this.id} has no sandbox before its first turn.`)
    return this.#place
  }

  async #exclusive(kind: TurnKind, task: Task, options: TurnOptions = {}): Promise<TurnResult<Out>> {
    if (this.#closed !== undefined) throw new VitrineError('run_closed', `The run ${this.id} is closed.`)
    if (this.#active !== undefined)
      throw new VitrineError('run_busy', `The run ${this.id} has an active turn: await it first.`)
    const turn = this.#turn(kind, task, options)
    this.#active = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.#active = undefined
    }
  }

  async #turn(kind: TurnKind, task: Task, { signal }: TurnOptions): Promise<TurnResult<Out>> {
    const breached = new AbortController()
    const signals = [signal, this.#options.signal, this.#closing.signal, breached.signal]
    const active: ActiveTurn = {
      signal: AbortSignal.any(signals.filter((one) => one !== undefined)),
      breached,
      breach: undefined,
    }
    const record = new TurnRecord()
    const step = { target: 'agent.turn', turnIndex: this.#spend.turns, turnKind: kind } as const
    this.#began ??= performance.now()
    const timer = this.#limitTime(active)
    try {
      this.#hook({ ...step, phase: 'before' })
      const result = await this.#work(kind, task, active, record)
      this.#lastOutcome = 'ok'
      this.#hook({ ...step, phase: 'after', outcome: 'ok' })
      return result
    } catch (cause) {
      const error = await this.#failure(cause, active, record)
      this.#lastOutcome = error instanceof SandboxRunAbortError ? 'cancelled' : 'failed'
      this.#hook({ ...step, phase: 'error', error })
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #work(
    kind: TurnKind,
    task: Task,
    active: ActiveTurn,
    record: TurnRecord,
  ): Promise<TurnResult<Out>> {
    const { signal } = active
    signal.throwIfAborted()
    this.#spendUp({ ...this.#spend, turns: this.#spend.turns + 1 }, active)
    signal.throwIfAborted()
    const isFirst = this.#place === undefined
    const place = await this.#open(signal).catch((error: unknown) => {
      // The prompt was not sent, so the turn can be started again.
      this.#spend = { ...this.#spend, turns: this.#spend.turns - 1 }
      throw error
    })
    record.journal = place.box.journal
    const { outcome } = await this.#prompt(kind, task, place, isFirst, active, record)
    if (active.breach !== undefined) throw active.breach
    if (outcome === 'cancelled') throw new VitrineError('cancelled', 'The turn was cancelled.')
    if (outcome !== 'ok') throw new VitrineError('timeout', 'The turn took longer than its time limit.')
    const out = await this.#deliver(place, signal, record)
    const { events, usage, cost, changedFiles, cursor } = record
    return {
      out,
      events,
      outcome,
      ...(usage !== undefined && { usage }),
      ...(cost !== undefined && { cost }),
      changedFiles,
      cursor: cursor ?? '',
    }
  }

  async #open(signal: AbortSignal): Promise<RunPlace> {
    if (this.#place !== undefined) return this.#place
    const { agentRun, beforeStart } = this.#options
    const place = await openPlace(this.#client, this.id, this.#options, signal)
    try {
      const { name, profile } = agentRun
      await place.box.record(
        [{ type: 'run.started', run: this.id, data: { name, agent: profile.agent, session: place.session.id } }],
        { id: `${this.id}.started` },
      )
      await beforeStart?.({ box: place.box, sessionId: place.session.id, signal })
      signal.throwIfAborted()
    } catch (error) {
      await this.#release(place, 'failed')
      throw error
    }
    this.#hook({ target: 'agent.run', phase: 'before' })
    this.#place = place
    return place
  }

  async #prompt(
    kind: TurnKind,
    task: Task,
    { box, session }: RunPlace,
    isFirst: boolean,
    active: ActiveTurn,
    record: TurnRecord,
  ): Promise<PromptResult> {
    const { agentRun, promptOptions = {} } = this.#options
    const { instructions } = agentRun.profile
    const text = agentRun.taskToPrompt(task)
    const prompt = kind === 'start' && instructions !== undefined ? `${instructions}\n\n${text}` : text
    const turn = newId('turn')
    const meta = {
      turnIndex: this.#spend.turns - 1,
      turnKind: kind,
      agentRunName: agentRun.name,
      runId: this.id,
      sandboxId: box.id,
      sessionId: session.id,
    }
    const after = this.#cursor ?? (isFirst && this.#options.resumeFrom ? await headOf(box) : undefined)
    const prompted = session.prompt(prompt, { ...promptOptions, turn, run: this.id, signal: active.signal })
    prompted.catch(() => undefined)
    const followed = { journal: box.journal, after, turn, session: session.id, ended: prompted }
    for await (const item of turnEvents(followed)) this.#observe(record.add(item), meta, active)
    this.#cursor = record.cursor ?? this.#cursor
    record.readReport()
    this.#spendUp(spendOfTurn(this.#spend, record), active)
    return prompted
  }

  #observe(event: SandboxEvent, turn: Omit<SandboxEventMeta, 'seq' | 'time'>, active: ActiveTurn): void {
    this.#spendUp(spendOfEvent(this.#spend, event), active)
    const { onSandboxEvent } = this.#options
    if (onSandboxEvent === undefined && this.#observers.size === 0) return
    const { seq, time } = event
    const meta = { ...turn, ...(seq !== undefined && { seq }), ...(time !== undefined && { time }) }
    if (onSandboxEvent !== undefined)
      void notifyOne(
        (copy: SandboxEvent) => onSandboxEvent(copy, { ...meta }),
        structuredClone(event),
        (error) => this.#reportHookError('onSandboxEvent', error),
      )
    for (const observer of this.#observers) observer.take([structuredClone(event), { ...meta }])
  }

  async #deliver({ box }: RunPlace, signal: AbortSignal, record: TurnRecord): Promise<Out> {
    const deliverable = this.#deliverable
    signal.throwIfAborted()
    if (deliverable.kind === 'events') return deliverable.fromEvents(record.events)
    const { maxArtifactBytes = defaultArtifactBytes, readRetryDelayMs = defaultRetryMs } = this.#options
    const limits = { maxBytes: maxArtifactBytes, attempts: artifactAttempts, retryMs: readRetryDelayMs }
    const text = await readArtifact(box, deliverable.path, limits, {
      signal,
      onFailure: (error) => {
        record.readError = error
      },
    })
    record.readError = undefined
    return deliverable.fromArtifact(text, record.events)
  }

  /** Counts what was used. The first limit that is exceeded ends the turn. */
  #spendUp(spend: Spend, active: ActiveTurn): void {
    this.#spend = spend
    this.#breach(active, breachOf(this.#options.budget ?? {}, spend))
  }

  #breach(active: ActiveTurn, breach: BudgetBreach | undefined): void {
    if (breach === undefined || active.breach !== undefined) return
    active.breach = breach
    active.breached.abort(breach)
  }

  #limitTime(active: ActiveTurn): NodeJS.Timeout | undefined {
    const max = this.#options.budget?.wallMs
    if (max === undefined) return undefined
    const used = () => performance.now() - (this.#began ?? 0)
    const stop = () => this.#breach(active, { limit: 'wallMs', max, used: Math.round(used()) })
    return setTimeout(stop, Math.max(0, max - used()))
  }

  /** The error of a turn, with everything that is known of it. */
  async #failure(cause: unknown, active: ActiveTurn, record: TurnRecord): Promise<SandboxRunError> {
    const evidence = record.evidence()
    const { breach } = active
    if (breach !== undefined) {
      const { limit, max, used } = breach
      const data = { limit: `run.${limit}`, max, used }
      await this.#place?.box.record([{ type: 'limit.reached', run: this.id, data }]).catch(() => undefined)
      const message = `The run ${this.id} used ${used} of ${max} (budget.${limit}).`
      return new SandboxRunError('budget_exhausted', message, { evidence, cause })
    }
    if (active.signal.aborted || (isVitrineError(cause) && cause.code === 'cancelled'))
      return new SandboxRunAbortError('The turn was aborted.', { evidence, cause })
    const { code, message } = toVitrineError(cause, 'run_failed')
    return new SandboxRunError(code, message, { evidence, cause })
  }

  async #close(): Promise<void> {
    const wasActive = this.#active !== undefined
    this.#closing.abort(new VitrineError('run_closed', `The run ${this.id} was closed.`))
    await this.#active
    if (this.#place === undefined) return
    await this.#release(this.#place, wasActive ? 'cancelled' : this.#lastOutcome)
    this.#hook({ target: 'agent.run', phase: 'after', outcome: this.#lastOutcome })
  }

  async #release({ box, ownership }: RunPlace, outcome: Outcome): Promise<void> {
    try {
      await box.record([{ type: 'run.finished', run: this.id, data: { outcome } }], { id: `${this.id}.finished` })
    } finally {
      if (ownership === 'owned') await this.#client.destroy(box.id)
    }
  }

  #hook(event: Omit<RunHookEvent, 'runId'>): void {
    const { onEvent } = this.#options.hooks ?? {}
    if (onEvent === undefined) return
    void notifyOne(onEvent, { ...event, runId: this.id }, (error) => this.#reportHookError('onEvent', error))
  }

  #reportHookError(hook: string, error: unknown): void {
    this.#hookErrors += 1
    const { onHookError } = this.#options.hooks ?? {}
    const failure = { hook, errors: this.#hookErrors }
    if (onHookError) void notifyOne((given: typeof failure) => onHookError(error, given), failure, () => undefined)
  }
}

/** The cursor after the newest event. */
async function headOf({ journal }: Sandbox): Promise<string> {
  return (await journal.read({ order: 'desc', limit: 1 })).cursor
}
