import {
  newId,
  type Outcome,
  type PromptResult,
  type Sandbox,
  type SandboxClient,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, runOptions } from '@vitrine/protocol/options'
import type { BudgetBreach, BudgetLimit, Spend } from '../budget/budget.ts'
import { BudgetMeter, type TurnMeter } from '../budget/budget-meter.ts'
import type { SandboxEvent, SandboxEventMeta, TurnKind } from '../events/sandbox-event.ts'
import { type ObserveOptions, RunObservers } from '../observe/run-observers.ts'
import { promptOf } from './agent-run.ts'
import { briefly, orAborted } from './bounded-waits.ts'
import { type Deliverable, deliver } from './deliverable.ts'
import type { SandboxRunError } from './evidence.ts'
import { ObservedTurn } from './observed-turn.ts'
import { type OpenedRun, openRun, removeBox, resumedSession } from './opened-run.ts'
import type { OpenSandboxRunOptions, TurnOptions, TurnResult } from './options.ts'
import { lastRunOf, RunRecord } from './run-record.ts'
import { RunningProcesses } from './running-processes.ts'
import { isOfRun, turnEvents } from './turn-events.ts'
import { endError, outcomeOf, turnError } from './turn-failure.ts'

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
  readonly #client: SandboxClient
  readonly #options: OpenSandboxRunOptions<Task>
  readonly #deliverable: Deliverable<Out>
  readonly #observers: RunObservers
  readonly #meter: BudgetMeter
  readonly #closing = new AbortController()
  readonly #processes = new RunningProcesses()
  /** The limits whose breach is on record. */
  readonly #breached = new Set<BudgetLimit>()
  /** Its ids on record, the newest last. */
  readonly #ids: Set<string>
  /** The runs on record whose end is not known to be there. */
  readonly #unfinished = new Set<RunRecord>()
  #id: string
  #opened: OpenedRun | undefined
  #record: RunRecord | undefined
  #active: Promise<void> | undefined
  #closed: Promise<void> | undefined
  /** After the last event of the last turn. */
  #cursor: string | undefined
  #lastOutcome: Outcome = 'ok'

  constructor(client: SandboxClient, options: OpenSandboxRunOptions<Task>, deliverable: Deliverable<Out>) {
    this.#id = options.runId ?? newId('run')
    this.#ids = new Set([this.#id])
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
    return this.#requireOpened().box
  }

  /** The id of the session; throws before the first turn. */
  get sessionId(): string {
    return this.#requireOpened().session.id
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

  #requireOpened(): OpenedRun {
    if (this.#opened === undefined)
      throw new VitrineError('run_not_started', `The run ${this.id} has no sandbox before its first turn.`)
    return this.#opened
  }

  #assertFree(): void {
    if (this.#closing.signal.aborted) throw new VitrineError('run_closed', `The run ${this.id} is closed.`)
    if (this.#active !== undefined)
      throw new VitrineError('run_busy', `The run ${this.id} has an active turn: await it first.`)
  }

  async #oneAtATime(kind: TurnKind, task: Task, options: TurnOptions = {}): Promise<TurnResult<Out>> {
    checkOptions('turn', runOptions.turn, options)
    // Before a function of the caller runs, which may call the run again.
    const active = Promise.withResolvers<void>()
    this.#active = active.promise
    try {
      return await this.#turn(kind, task, options)
    } finally {
      this.#active = undefined
      active.resolve()
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
    const prompt = promptOf(this.#options.agentRun, turn)
    const opened = await (this.#opened === undefined ? this.#open(turn) : this.#reopen(this.#opened, signal))
    record.journal = opened.box.journal
    // From here on the turn counts: a turn that failed earlier can be started again.
    meter.countTurn()
    const { outcome } = await this.#prompt(turn, prompt, opened)
    signal.throwIfAborted()
    if (outcome !== 'ok') throw endError(outcome)
    const out = await deliver(this.#deliverable, opened.box, record, this.#options, signal)
    return record.result(out, outcome)
  }

  async #open({ signal, meter }: ActiveTurn<Task>): Promise<OpenedRun> {
    const { beforeStart } = this.#options
    const onCleanupError = this.#observers.report('close')
    const opened = await openRun(this.#client, this.#options, {
      runId: this.id,
      signal,
      onFailed: (box) => this.#recordBreach(meter.breach, box),
      onCleanupError,
    })
    const { box, session } = opened
    const isBorrowed = opened.ownership === 'borrowed'
    try {
      const continued = isBorrowed ? await orAborted(signal, () => lastRunOf(box, session.id)) : undefined
      this.#record = await this.#started(this.id, opened, continued, signal)
      await orAborted(signal, async () => beforeStart?.({ box, sessionId: session.id, signal }))
      if (isBorrowed)
        this.#cursor = (await orAborted(signal, () => box.journal.read({ order: 'desc', limit: 1 }))).cursor
    } catch (error) {
      await this.#recordBreach(meter.breach, box)
      const outcome = signal.aborted && meter.breach === undefined ? 'cancelled' : 'failed'
      // The error of the start is the one to show.
      await briefly(this.#release(opened, outcome), onCleanupError)
      this.#record = undefined
      // Another start in the same journal is another run.
      if (isBorrowed) this.#rename(newId('run'))
      throw error
    }
    this.#observers.hook({ target: 'agent.run', phase: 'before', runId: this.id })
    this.#opened = opened
    return opened
  }

  /** The sandbox may have been stopped since, and its host killed, which ended the session and the run on record. */
  async #reopen(opened: OpenedRun, signal: AbortSignal): Promise<OpenedRun> {
    const session = await resumedSession(opened.box, opened.session.id, this.#options, signal)
    this.#opened = { ...opened, session }
    const end = await orAborted(signal, async () => this.#record?.endSince(this.#cursor))
    if (end === undefined) return this.#opened
    const id = newId('run')
    const continued = { ...this.#opened, box: opened.box.as({ run: id }) }
    const record = await this.#started(id, continued, this.id, signal)
    if (this.#record !== undefined) this.#unfinished.delete(this.#record)
    this.#observers.hook({ target: 'agent.run', phase: 'after', runId: this.id, outcome: end.outcome })
    this.#rename(id)
    this.#record = record
    this.#opened = continued
    this.#observers.hook({ target: 'agent.run', phase: 'before', runId: id })
    return continued
  }

  #rename(id: string): void {
    this.#id = id
    this.#ids.add(id)
  }

  /** A start that fails may be on record, so its end is recorded by `close()`. */
  async #started(
    id: string,
    { box, session }: OpenedRun,
    continued: string | undefined,
    signal: AbortSignal,
  ): Promise<RunRecord> {
    const { name } = this.#options.agentRun
    const record = new RunRecord(id, box, session.id)
    this.#unfinished.add(record)
    const start = { name, agent: session.agent, ...(continued !== undefined && { continues: continued }) }
    await orAborted(signal, () => record.start(start))
    return record
  }

  async #prompt(turn: ActiveTurn<Task>, prompt: string, { box, session }: OpenedRun): Promise<PromptResult> {
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
      runs: this.#ids,
      ended: prompted,
    }
    try {
      for await (const item of turnEvents(followed)) {
        this.#record?.see(item)
        this.#processes.see(item, this.#ids)
        const event = record.add(item)
        if (isOfRun(item, this.#ids)) meter.count(event)
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
    const { cursor = this.#cursor, ...known } = record.evidence()
    const evidence = { ...known, ...(cursor !== undefined && { cursor }) }
    // A breach that was found after the program aborted the turn did not end it.
    const breach = signal.reason === meter.breach ? meter.breach : undefined
    const isAborted = signal.aborted && breach === undefined
    if (breach !== undefined) await this.#stopBeyondBudget(breach)
    const run = breach === undefined && !isAborted ? this.#record : undefined
    const recorded = run && (await briefly(run.endSince(this.#cursor), () => undefined))
    return turnError({ runId: this.id, cause, evidence, breach, isAborted, recorded })
  }

  /** Ends the processes of the run and, in its own sandbox, its agent. */
  async #stopBeyondBudget(breach: BudgetBreach): Promise<void> {
    if (this.#opened === undefined || this.#breached.has(breach.limit)) return
    const { box, session, ownership } = this.#opened
    const onError = this.#observers.report('limit.reached')
    await this.#recordBreach(breach, box)
    await briefly(this.#processes.kill(box, { runs: this.#ids, after: this.#cursor }, onError), onError)
    if (ownership === 'owned') await briefly(session.close(), onError)
  }

  /** Once for each limit. */
  async #recordBreach(breach: BudgetBreach | undefined, box: Sandbox): Promise<void> {
    if (breach === undefined || this.#breached.has(breach.limit)) return
    const { limit, max, used } = breach
    this.#breached.add(limit)
    const data = { limit: `run.${limit}`, max, used }
    const recorded = box.record([{ type: 'limit.reached', run: this.id, data }])
    await briefly(recorded, this.#observers.report('limit.reached'))
  }

  async #close(): Promise<void> {
    this.#closing.abort(new VitrineError('run_closed', `The run ${this.id} was closed.`))
    await this.#active
    if (this.#opened !== undefined) {
      const outcome = await this.#release(this.#opened, this.#lastOutcome)
      this.#observers.hook({
        target: 'agent.run',
        phase: 'after',
        runId: this.id,
        ...(outcome !== undefined && { outcome }),
      })
    } else await this.#finishAll(this.#lastOutcome)
  }

  /** Returns the outcome on record of the run as it is called now. */
  async #release({ box, ownership }: OpenedRun, outcome: Outcome): Promise<Outcome | undefined> {
    try {
      return await this.#finishAll(outcome)
    } finally {
      if (ownership === 'owned') {
        await removeBox(box)
        // Its runs have ended with the sandbox.
        this.#unfinished.clear()
      }
    }
  }

  async #finishAll(outcome: Outcome): Promise<Outcome | undefined> {
    let recorded: Outcome | undefined
    for (const record of [...this.#unfinished]) {
      const end = await record.finish(outcome)
      if (record === this.#record) recorded = end
      this.#unfinished.delete(record)
    }
    return recorded
  }
}
