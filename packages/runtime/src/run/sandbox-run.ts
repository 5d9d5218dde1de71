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
import { checkOptions, runOptions } from '@vitrine/protocol/options'
import type { BudgetBreach, BudgetLimit, Spend } from '../budget/budget.ts'
import { BudgetMeter, type TurnMeter } from '../budget/budget-meter.ts'
import type { SandboxEvent, SandboxEventMeta, TurnKind } from '../events/sandbox-event.ts'
import { type ObserveOptions, RunObservers } from '../observe/run-observers.ts'
import { type Deliverable, deliver } from './deliverable.ts'
import { SandboxRunAbortError, SandboxRunError } from './evidence.ts'
import { ObservedTurn } from './observed-turn.ts'
import { openPlace, orAborted, type RunPlace, resumedSession } from './open-place.ts'
import type { OpenSandboxRunOptions, TurnOptions, TurnResult } from './options.ts'
import { lastRunOf, RunRecord } from './run-record.ts'
import { RunningProcesses } from './running-processes.ts'
import { turnEvents } from './turn-events.ts'

const defaultMaxEvents = 100_000

/** A turn that has begun: how it is ended, what it may use, and what is known of it. */
interface ActiveTurn<Task> {
  readonly kind: TurnKind
  readonly task: Task
  readonly signal: AbortSignal
  readonly meter: TurnMeter
  readonly record: ObservedTurn
}

/** One sandbox and one session over any number of turns. The sandbox is created with the first turn. */
export class SandboxRun<Out, Task = string> {
  #id: string
  readonly #client: SandboxClient
  readonly #options: OpenSandboxRunOptions<Task>
  readonly #deliverable: Deliverable<Out>
  readonly #observers: RunObservers
  readonly #meter: BudgetMeter
  readonly #closing = new AbortController()
  readonly #processes = new RunningProcesses()
  /** The limits whose breach is on record. */
  readonly #breached = new Set<BudgetLimit>()
  #place: RunPlace | undefined
  #record: RunRecord | undefined
  #active: Promise<unknown> | undefined
  #closed: Promise<void> | undefined
  /** After the last event of the last turn. */
  #cursor: string | undefined
  #lastOutcome: Outcome = 'ok'

  constructor(client: SandboxClient, options: OpenSandboxRunOptions<Task>, deliverable: Deliverable<Out>) {
    this.#id = options.runId ?? newId('run')
    this.#client = client
    this.#options = options
    this.#deliverable = deliverable
    this.#observers = new RunObservers(options)
    this.#meter = new BudgetMeter(options.budget ?? {})
  }

  /** Its id on record. A run whose host was killed goes on under a new one, whose start names the former. */
  get id(): string {
    return this.#id
  }

  /** The sandbox; throws before the first turn. */
  get box(): Sandbox {
    return this.#requirePlace().box
  }

  /** The id of the session; throws before the first turn. */
  get sessionId(): string {
    return this.#requirePlace().session.id
  }

  get spend(): Spend {
    return this.#meter.spend
  }

  /** The first turn. */
  async start(task: Task, options?: TurnOptions): Promise<TurnResult<Out>> {
    this.#assertFree()
    if (this.#isStarted)
      throw new VitrineError('run_started', `The run ${this.id} has started: call resume or turn.`)
    return this.#oneAtATime('start', task, options)
  }

  /** A further turn of the same session. */
  async resume(task: Task, options?: TurnOptions): Promise<TurnResult<Out>> {
    this.#assertFree()
    if (!this.#isStarted)
      throw new VitrineError('run_not_started', `The run ${this.id} has no turn yet: call start or turn.`)
    return this.#oneAtATime('resume', task, options)
  }

  /** The first turn, or a further one. */
  async turn(task: Task, options?: TurnOptions): Promise<TurnResult<Out>> {
    this.#assertFree()
    return this.#oneAtATime(this.#isStarted ? 'resume' : 'start', task, options)
  }

  /**
   * Calls a handler with a copy of each event, one after the other, and awaits each call. Events that do not fit into the
   * buffer are dropped for it. Returns a function that removes it.
   */
  observeEvents(
    handler: (event: SandboxEvent, meta: SandboxEventMeta) => unknown,
    options: ObserveOptions = {},
  ): () => void {
    checkOptions('observeEvents', runOptions.observeEvents, options)
    return this.#observers.add(handler, options)
  }

  /**
   * Aborts and awaits the active turn, records the end of the run, and destroys a sandbox that the run created. If that
   * fails, it can be called again.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close().catch((error: unknown) => {
      this.#closed = undefined
      throw error
    })
    return this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  get #isStarted(): boolean {
    return this.#meter.spend.turns > 0 || this.#options.resumeFrom !== undefined
  }

  #requirePlace(): RunPlace {
    if (this.#place === undefined)
      throw new VitrineError('run_not_started', `The run ${this.id} has no sandbox before its first turn.`)
    return this.#place
  }

  #assertFree(): void {
    if (this.#closing.signal.aborted) throw new VitrineError('run_closed', `The run ${this.id} is closed.`)
    if (this.#active !== undefined)
      throw new VitrineError('run_busy', `The run ${this.id} has an active turn: await it first.`)
  }

  async #oneAtATime(kind: TurnKind, task: Task, options: TurnOptions = {}): Promise<TurnResult<Out>> {
    checkOptions('turn', runOptions.turn, options)
    const turn = this.#turn(kind, task, options)
    this.#active = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.#active = undefined
    }
  }

  async #turn(kind: TurnKind, task: Task, { signal }: TurnOptions): Promise<TurnResult<Out>> {
    const { maxEvents = defaultMaxEvents } = this.#options
    const meter = this.#meter.begin()
    const signals = [signal, this.#options.signal, this.#closing.signal, meter.exceeded]
    const ended = AbortSignal.any(signals.filter((one) => one !== undefined))
    const turn = { kind, task, signal: ended, meter, record: new ObservedTurn(maxEvents) }
    const step = { target: 'agent.turn', turnIndex: this.#meter.spend.turns, turnKind: kind } as const
    this.#observers.hook({ ...step, phase: 'before', runId: this.id })
    try {
      const result = await this.#work(turn)
      this.#lastOutcome = 'ok'
      this.#observers.hook({ ...step, phase: 'after', runId: this.id, outcome: 'ok' })
      return result
    } catch (cause) {
      const error = await this.#failure(turn, cause)
      this.#lastOutcome = outcomeOf(error)
      this.#observers.hook({ ...step, phase: 'error', runId: this.id, error })
      throw error
    } finally {
      meter.end()
    }
  }

  async #work(turn: ActiveTurn<Task>): Promise<TurnResult<Out>> {
    const { signal, meter, record } = turn
    signal.throwIfAborted()
    meter.checkTurn()
    signal.throwIfAborted()
    const prompt = this.#promptOf(turn)
    const place =
      this.#place === undefined ? await this.#open(signal) : await this.#reopen(this.#place, signal)
    record.journal = place.box.journal
    // From here on the turn counts: a turn that failed earlier can be started again.
    meter.countTurn()
    const { outcome } = await this.#prompt(turn, prompt, place)
    signal.throwIfAborted()
    if (outcome !== 'ok') throw endError(outcome)
    const out = await deliver(this.#deliverable, place.box, record, this.#options, signal)
    return record.result(out, outcome)
  }

  async #open(signal: AbortSignal): Promise<RunPlace> {
    const { beforeStart } = this.#options
    const onCleanupError = this.#observers.report('close')
    const place = await openPlace(this.#client, this.id, this.#options, { signal, onCleanupError })
    const { box, session } = place
    const isBorrowed = place.ownership === 'borrowed'
    try {
      const continued = isBorrowed ? await lastRunOf(box, session.id) : undefined
      this.#record = await this.#started(this.id, place, continued)
      await orAborted(signal, async () => beforeStart?.({ box, sessionId: session.id, signal }))
      if (isBorrowed) this.#cursor = (await box.journal.read({ order: 'desc', limit: 1 })).cursor
    } catch (error) {
      const outcome = signal.aborted ? 'cancelled' : 'failed'
      // The error of the start is the one to show.
      await this.#release(place, outcome).catch(this.#observers.report('close'))
      this.#record = undefined
      throw error
    }
    this.#observers.hook({ target: 'agent.run', phase: 'before', runId: this.id })
    this.#place = place
    return place
  }

  /** The sandbox may have been stopped since, and its host killed, which ended the session and the run on record. */
  async #reopen(place: RunPlace, signal: AbortSignal): Promise<RunPlace> {
    const session = await resumedSession(place.box, place.session.id, this.#options, signal)
    this.#place = { ...place, session }
    if ((await this.#record?.endSince(this.#cursor)) === undefined) return this.#place
    const id = newId('run')
    const continued = { ...this.#place, box: place.box.as({ run: id }) }
    this.#record = await this.#started(id, continued, this.id)
    this.#id = id
    this.#place = continued
    return continued
  }

  async #started(id: string, { box, session }: RunPlace, continued: string | undefined): Promise<RunRecord> {
    const { name, profile } = this.#options.agentRun
    const record = new RunRecord(id, box, session.id)
    await record.start({
      name,
      agent: profile.agent,
      ...(continued !== undefined && { continues: continued }),
    })
    return record
  }

  #promptOf({ kind, task }: ActiveTurn<Task>): string {
    const { agentRun } = this.#options
    const { instructions } = agentRun.profile
    const text = agentRun.taskToPrompt(task)
    return kind === 'start' && instructions !== undefined ? `${instructions}\n\n${text}` : text
  }

  async #prompt(turn: ActiveTurn<Task>, prompt: string, { box, session }: RunPlace): Promise<PromptResult> {
    const { kind, meter, record } = turn
    const { agentRun, promptOptions = {} } = this.#options
    const id = newId('turn')
    record.turn = id
    const unreadable = new AbortController()
    const signal = AbortSignal.any([turn.signal, unreadable.signal])
    const prompted = session.prompt(prompt, { ...promptOptions, turn: id, run: this.id, signal })
    prompted.catch(() => undefined)
    const meta = {
      turnIndex: this.#meter.spend.turns - 1,
      turnKind: kind,
      agentRunName: agentRun.name,
      runId: this.id,
      sandboxId: box.id,
      sessionId: session.id,
    }
    const followed = {
      journal: box.journal,
      after: this.#cursor,
      turn: id,
      session: session.id,
      ended: prompted,
    }
    try {
      for await (const item of turnEvents(followed)) {
        this.#record?.see(item)
        this.#processes.see(item, this.id)
        const event = record.add(item)
        meter.count(event)
        this.#observers.show(event, meta)
      }
    } catch (error) {
      // A turn that cannot be observed does not go on.
      unreadable.abort(error)
      await prompted.catch(() => undefined)
      throw error
    } finally {
      this.#cursor = record.cursor ?? this.#cursor
      meter.report(record.reportedAtEnd)
    }
    return prompted
  }

  /** The error of a turn, with everything that is known of it. */
  async #failure({ signal, meter, record }: ActiveTurn<Task>, cause: unknown): Promise<SandboxRunError> {
    const evidence = record.evidence()
    if (meter.breach !== undefined) {
      const { limit, max, used } = meter.breach
      await this.#stopBeyondBudget(meter.breach)
      const message = `The run ${this.id} used ${used} of ${max} (budget.${limit}).`
      return new SandboxRunError('budget_exhausted', message, { evidence, cause })
    }
    if (signal.aborted || (isVitrineError(cause) && cause.code === 'cancelled'))
      return new SandboxRunAbortError('The turn was aborted.', { evidence, cause })
    const recorded = await this.#record?.endSince(this.#cursor).catch(() => undefined)
    const { code, message } =
      recorded?.outcome === 'interrupted' ? interrupted(recorded) : toVitrineError(cause, 'run_failed')
    return new SandboxRunError(code, message, { evidence, cause })
  }

  /** Records a breach once, and ends the processes of the run and, in its own sandbox, its agent. */
  async #stopBeyondBudget({ limit, max, used }: BudgetBreach): Promise<void> {
    const place = this.#place
    if (place === undefined || this.#breached.has(limit)) return
    this.#breached.add(limit)
    const onError = this.#observers.report('limit.reached')
    const data = { limit: `run.${limit}`, max, used }
    await place.box.record([{ type: 'limit.reached', run: this.id, data }]).catch(onError)
    await this.#processes.kill(place.box, onError)
    if (place.ownership === 'owned') await place.session.close().catch(onError)
  }

  async #close(): Promise<void> {
    this.#closing.abort(new VitrineError('run_closed', `The run ${this.id} was closed.`))
    await this.#active
    if (this.#place === undefined) return
    const outcome = await this.#release(this.#place, this.#lastOutcome)
    this.#observers.hook({
      target: 'agent.run',
      phase: 'after',
      runId: this.id,
      ...(outcome !== undefined && { outcome }),
    })
  }

  /** Returns the outcome on record. A run whose start is not on record has none. */
  async #release({ box, ownership }: RunPlace, outcome: Outcome): Promise<Outcome | undefined> {
    try {
      return await this.#record?.finish(outcome)
    } finally {
      if (ownership === 'owned') await this.#client.destroy(box.id)
    }
  }
}

function outcomeOf({ code }: SandboxRunError): Outcome {
  return code === 'cancelled' || code === 'interrupted' || code === 'timeout' ? code : 'failed'
}

function endError(outcome: Exclude<Outcome, 'ok'>): VitrineError {
  switch (outcome) {
    case 'cancelled':
      return new VitrineError('cancelled', 'The turn was cancelled.')
    case 'timeout':
      return new VitrineError('timeout', 'The turn took longer than the limits of its session.')
    case 'interrupted':
      return interrupted({ errorMessage: 'Its host ended before it did.' })
    case 'failed':
      return new VitrineError('agent_failed', 'The turn failed.')
  }
}

function interrupted({ errorMessage = '' }: { readonly errorMessage?: string | undefined }): VitrineError {
  return new VitrineError('interrupted', `The turn was interrupted. ${errorMessage}`.trim())
}
