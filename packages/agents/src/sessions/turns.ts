import {
  type ContentBlock,
  type EventContext,
  type EventInput,
  type HostCallContext,
  type JsonObject,
  type LastTurn,
  type ModelErrorSign,
  type OpenSessionOptions,
  type PromptResult,
  type TurnLimits,
  toVitrineError,
  VitrineError,
} from '@vitrine/protocol'
import { settledWithin, withinEventValues } from '@vitrine/protocol/primitives'
import type { SandboxEngine } from '@vitrine/sandbox'
import { ActiveTurn } from './active-turn.ts'
import type { AgentInstance } from './agent-instance.ts'
import { appendEnd } from './append-end.ts'
import type { CallEvidence } from './call-evidence.ts'
import type { ClientTerminals } from './client-terminals.ts'
import { formatConnections } from './failed-connections.ts'
import { objectIn, textIn } from './fields.ts'
import { cancelledError, closeMs, defaultCancelMs } from './limits.ts'
import { modelEndpointHint, withEndpointHint } from './model-endpoint-hint.ts'
import { modelErrorSign } from './model-error.ts'
import type { PendingRequests } from './pending-requests.ts'
import { fitBlocks } from './prompt-content.ts'
import { PromptedTurn, type PromptedTurnOptions } from './prompted-turn.ts'
import type { TurnRecord } from './recorded-turn.ts'
import type { ReportedUsage, UsagePosition } from './reported-usage.ts'
import { watchLimits } from './turn-limits.ts'
import {
  type DropReason,
  nextTurnState,
  type StopAllReason,
  type StopCause,
  type TurnEffect,
  type TurnInput,
  type TurnState,
} from './turn-state.ts'

/** The parts of a session that its turns use. */
export interface TurnHost {
  readonly id: string
  readonly agent: string
  readonly sandbox: SandboxEngine
  readonly answers: PendingRequests
  readonly terminals: Pick<ClientTerminals, 'createdCount' | 'killSince'>
  readonly reported: ReportedUsage
  readonly limits: TurnLimits
  readonly options: Pick<OpenSessionOptions, 'modelEndpoint'>
  /** The agent's own id for the session. */
  readonly agentSession: string
  /** Whether the agent runs, so that `ensureAgent` has nothing to start. */
  readonly hasAgent: boolean
  /** The running agent; started again when it has exited. */
  ensureAgent(): Promise<AgentInstance>
  /** The recap to send before the next prompt; returned once. */
  takeRecap(): string | undefined
  /** The error of a prompt that the session's close has dropped. */
  closedError(): VitrineError
}

/** The parts of a turn that exist from its start to its end. */
interface RunningTurn {
  readonly turn: ActiveTurn
  readonly instance: AgentInstance
  /** The prompt in the form that the agent supports. */
  readonly blocks: readonly ContentBlock[]
  /** The agent's reports before the turn. */
  readonly before: UsagePosition
  /** Rejected to stop waiting for the agent's response. */
  readonly abandoned: PromiseWithResolvers<never>
  /** Settles when the agent has obeyed the cancel or was ended. */
  cancelled: Promise<void>
}

export interface SessionTurnsOptions {
  /** How many prompts may wait. */
  readonly queue: number
  /** The number of earlier turns, and the last of them. */
  readonly count: number
  readonly last: LastTurn | undefined
}

type TurnEnd = Omit<PromptResult, 'turn'> & { readonly error?: VitrineError }

/** Runs the turns of one session, one at a time, and records exactly one end for each. */
export class SessionTurns {
  readonly #session: TurnHost
  readonly #maxWaiting: number
  #count: number
  #last: LastTurn | undefined
  #state: TurnState<PromptedTurn, RunningTurn> = { phase: 'idle' }

  constructor(session: TurnHost, options: SessionTurnsOptions) {
    this.#session = session
    this.#maxWaiting = options.queue
    this.#count = options.count
    this.#last = options.last
  }

  get count(): number {
    return this.#count
  }

  /** The newest turn whose end is on record. */
  get last(): LastTurn | undefined {
    return this.#last
  }

  get busy(): boolean {
    return this.#state.phase !== 'idle'
  }

  /** The running turn, until the agent has responded to its prompt. */
  get current(): ActiveTurn | undefined {
    return this.#running?.active.turn
  }

  /** Session and turn of events that happen now, and who asked for the turn. */
  get context(): EventContext {
    return this.#running?.prompt.context ?? { session: this.#session.id }
  }

  /** The same, for calls on the sandbox. */
  get callContext(): HostCallContext {
    return this.#running?.prompt.callContext ?? { session: this.#session.id }
  }

  /** Settles when the prompt at work, started or not, has ended. */
  get ended(): Promise<unknown> {
    return this.#state.phase === 'idle' ? Promise.resolve() : this.#state.prompt.over
  }

  /** Settles when the end of the started turn is recorded; a turn that waits for its agent has not started. */
  get finished(): Promise<unknown> {
    return 'active' in this.#state ? this.#state.prompt.over : Promise.resolve()
  }

  get #running() {
    const state = this.#state
    return state.phase === 'running' || state.phase === 'cancelling' ? state : undefined
  }

  /** Why the started turn was stopped, if it was. */
  get #stop(): StopCause | undefined {
    return 'stop' in this.#state ? this.#state.stop : undefined
  }

  /** Runs or queues a prompt; throws when the queue is full. */
  add(options: PromptedTurnOptions): PromptedTurn {
    const prompt = new PromptedTurn(options)
    this.#apply({ type: 'prompt', prompt, maxWaiting: this.#maxWaiting })
    return prompt
  }

  /** Cancels a prompt, whether it waits or runs. */
  cancelOne(turn: string): void {
    this.#apply({ type: 'stop', turn, reason: 'cancelled' })
  }

  /** Cancels the prompt at work, and ends those that wait, for this reason. */
  async cancel(reason: StopAllReason): Promise<void> {
    const { ended } = this
    this.#apply({ type: 'stopAll', reason })
    await ended
  }

  /** Ends the running turn without waiting for the agent, which keeps running for other sessions. */
  abandon(): void {
    this.#running?.active.abandoned.reject(cancelledError('The turn'))
  }

  #apply(input: TurnInput<PromptedTurn, RunningTurn>): void {
    const { state, effects } = nextTurnState(this.#state, input)
    this.#state = state
    for (const effect of effects) this.#perform(effect)
  }

  #perform(effect: TurnEffect<PromptedTurn, RunningTurn>): void {
    switch (effect.type) {
      case 'refuse':
        throw refusal(effect.code, this.#maxWaiting)
      case 'queue':
        return void this.#queue(effect.prompt, effect.position)
      case 'drop':
        return void this.#drop(effect.prompt, effect.reason, this.#droppedResult(effect))
      case 'prepare':
        return void this.#prepare(effect.prompt)
      case 'start':
        return void this.#start(effect.prompt)
      case 'send':
        return void this.#run(effect.prompt, effect.active)
      case 'cancel':
        effect.active.cancelled = this.#cancelNow(effect.prompt, effect.active).catch(() => undefined)
        return
    }
  }

  /** Appends an event of a prompt that changes its state. */
  async #record(prompt: PromptedTurn, state: TurnRecord['state'], events: readonly EventInput[]) {
    prompt.state = state
    const recorded = await prompt.journal.append(events)
    prompt.seq = recorded.at(-1)?.seq
    prompt.setAccepted()
  }

  /** Records that a prompt waits. One that cannot be recorded is dropped. */
  async #queue(prompt: PromptedTurn, position: number): Promise<void> {
    try {
      await this.#record(prompt, 'queued', [{ type: 'prompt.queued', data: { ...prompt.shown, position } }])
    } catch (error) {
      if (prompt.state !== 'queued') return
      await this.#drop(prompt, 'failed', toVitrineError(error))
      this.#apply({ type: 'stop', turn: prompt.turn, reason: 'cancelled' })
    }
  }

  #droppedResult({ prompt, result }: Extract<TurnEffect<PromptedTurn, RunningTurn>, { type: 'drop' }>) {
    return result === 'session_closed' ? this.#session.closedError() : cancelledResult(prompt)
  }

  /** Ends a prompt whose turn has not started. */
  async #drop(prompt: PromptedTurn, reason: DropReason, result: PromptResult | VitrineError): Promise<void> {
    if (prompt.state === 'dropped' || prompt.state === 'cancelled') return
    // A prompt that is refused before it was queued leaves no record.
    const isRecorded = prompt.state === 'queued' || !(result instanceof VitrineError)
    const state = reason === 'cancelled' ? 'cancelled' : 'dropped'
    const data = { ...prompt.shown, reason, ...droppedFacts(reason, result) }
    if (isRecorded)
      await this.#record(prompt, state, [{ type: 'prompt.dropped', data }]).catch(() => undefined)
    else prompt.state = state
    prompt.end(result)
  }

  /** Waits for the agent of a prompt. */
  async #prepare(prompt: PromptedTurn): Promise<void> {
    const { turn } = prompt
    try {
      // Record earlier file changes now, so that they are not attributed to this turn.
      const settled = this.#session.sandbox.flushFiles().catch(() => undefined)
      let instance: AgentInstance
      // Start an agent that exited meanwhile again: no turn starts in a session that is recorded as closed.
      do {
        // A prompt that waits for the start of its agent is on record, since the start may fail.
        if (!this.#session.hasAgent && prompt.state === 'new') void this.#queue(prompt, 0)
        instance = await this.#session.ensureAgent()
        await settled
      } while (!instance.alive && this.#isPreparing(prompt))
      if (!this.#isPreparing(prompt)) return
      const { agent } = this.#session
      const blocks = fitBlocks(agent, prompt.blocks, objectIn(instance.capabilities.promptCapabilities))
      this.#apply({ type: 'ready', turn, active: this.#runningTurn(prompt, instance, blocks) })
    } catch (error) {
      if (!this.#isPreparing(prompt)) return
      void this.#drop(prompt, 'failed', toVitrineError(error, 'agent_failed'))
      this.#apply({ type: 'ended', turn })
    }
  }

  #isPreparing(prompt: PromptedTurn): boolean {
    return this.#state.phase === 'preparing' && this.#state.prompt === prompt
  }

  #runningTurn(
    { turn }: PromptedTurn,
    instance: AgentInstance,
    blocks: readonly ContentBlock[],
  ): RunningTurn {
    const abandoned = Promise.withResolvers<never>()
    abandoned.promise.catch(() => undefined)
    return {
      turn: new ActiveTurn({
        now: () => instance.bridge.transport.processMark(),
        onAnswered: () => this.#apply({ type: 'answered', turn }),
      }),
      instance,
      blocks,
      before: this.#session.reported.position(),
      abandoned,
      cancelled: Promise.resolve(),
    }
  }

  async #start(prompt: PromptedTurn): Promise<void> {
    const { turn, shown } = prompt
    const before = prompt.state
    try {
      await this.#record(prompt, 'started', [
        { type: 'turn.started', data: { index: this.#count, ...shown } },
      ])
    } catch (error) {
      prompt.state = before
      void this.#drop(prompt, 'failed', toVitrineError(error))
      return this.#apply({ type: 'ended', turn })
    }
    this.#count += 1
    this.#apply({ type: 'started', turn })
  }

  /** Sends the prompt of a started turn to the agent, and records the end of the turn. */
  async #run(prompt: PromptedTurn, active: RunningTurn): Promise<void> {
    const { sandbox, terminals } = this.#session
    const { turn, instance, abandoned } = active
    const { createdCount } = terminals
    const endTurn = sandbox.beginTurn(prompt.context)
    const onLimit = () => this.#apply({ type: 'stop', turn: prompt.turn, reason: 'timeout' })
    const stopTimers = watchLimits(turn, this.#session, prompt.journal, onLimit)
    const evidence = instance.evidence()
    let result: PromptResult | VitrineError
    try {
      const response = Promise.race([this.#send(active, evidence), abandoned.promise])
      const end = await response.catch((error: unknown) => this.#failed(error))
      turn.setAnswered()
      await active.cancelled
      await this.#endTools(turn, instance, createdCount).catch(() => undefined)
      await sandbox.flushFiles().catch(() => undefined)
      // An agent often waits for a destination that it cannot reach until it is stopped.
      const connections = this.#stop === undefined ? [] : await evidence.connections()
      result = await this.#finish(prompt, active, {
        ...end,
        ...(connections.length > 0 && end.outcome !== 'failed' && { connections }),
      })
    } catch (error) {
      result = toVitrineError(error)
    } finally {
      stopTimers()
      endTurn()
    }
    this.#apply({ type: 'ended', turn: prompt.turn })
    prompt.end(result)
  }

  /**
   * Kills the processes of tool calls that the agent left open. While another session of the agent has a turn, its
   * child processes cannot be attributed and are left running.
   */
  async #endTools({ openSince }: ActiveTurn, instance: AgentInstance, createdCount: number): Promise<void> {
    if (openSince === undefined || !instance.alive) return
    await settledWithin(this.#session.terminals.killSince(createdCount), closeMs, { ref: true })
    const others = instance.sessions.all.filter(({ id }) => id !== this.#session.id)
    if (!others.some(({ info }) => info.busy)) instance.bridge.transport.killStartedAfter(openSince)
  }

  async #send({ instance, turn, blocks }: RunningTurn, evidence: CallEvidence): Promise<TurnEnd> {
    const { agent, agentSession: sessionId } = this.#session
    const recap = this.#session.takeRecap()
    const prompt = recap === undefined ? blocks : [{ type: 'text', text: recap }, ...blocks]
    const result = await instance.request(
      'session/prompt',
      { sessionId, prompt },
      { timeoutMs: Number.POSITIVE_INFINITY },
    )
    const stopReason = textIn(result, 'stopReason')
    if (stopReason === undefined)
      throw await evidence.addTo(
        new VitrineError(
          'agent_protocol_error',
          `The agent ${agent} ended its turn without a stop reason: ${JSON.stringify(result).slice(0, 200)}`,
        ),
      )
    const usage = objectIn(result, 'usage')
    const { text, updates } = turn
    const sign = modelErrorSign(instance.quirks, { text, updates, stopReason })
    const connections = sign === undefined ? [] : await evidence.connections()
    const modelError = sign && { ...this.#withHint(sign), ...(connections.length > 0 && { connections }) }
    return {
      outcome: this.#stop === 'timeout' ? 'timeout' : stopReason === 'cancelled' ? 'cancelled' : 'ok',
      stopReason,
      ...(usage && { usage: counts(usage) }),
      ...(modelError && { modelError }),
    }
  }

  /** An error after a cancel or a timeout is reported with that outcome. */
  #failed(error: unknown): TurnEnd {
    const { modelEndpoint } = this.#session.options
    return {
      outcome: this.#stop ?? 'failed',
      error: withEndpointHint(toVitrineError(error, 'agent_failed'), modelEndpoint),
    }
  }

  #withHint(sign: ModelErrorSign): ModelErrorSign {
    const hint = modelEndpointHint(this.#session.options.modelEndpoint)
    return hint === undefined ? sign : { ...sign, hint }
  }

  /** A turn that ran out of time without a word of its model, in a session with its own model endpoint. */
  #silenceOf(turn: ActiveTurn, { outcome, modelError }: TurnEnd): ModelErrorSign | undefined {
    const { modelEndpoint } = this.#session.options
    if (outcome !== 'timeout' || turn.updates > 0 || modelEndpoint === undefined) return modelError
    return modelError ?? this.#withHint({ sign: 'silence' })
  }

  /** Records the end of a turn, and returns the result or the error of its prompt. */
  async #finish(
    prompt: PromptedTurn,
    { turn, instance, before }: RunningTurn,
    { error, ...end }: TurnEnd,
  ): Promise<PromptResult | VitrineError> {
    const { answers, reported } = this.#session
    const modelError = this.#silenceOf(turn, end)
    const result = { ...end, ...(modelError && { modelError }), ...reported.since(before) }
    const failed = result.outcome === 'failed' && error !== undefined
    // Cancel the permissions and questions that are still pending. If the turn was stopped, the cancel is the reason,
    // even when the agent ended the turn before it got the cancelled responses.
    const by = this.#stop === undefined ? 'turn-end' : 'cancel'
    if (instance.bridge.exit === undefined) await settledWithin(answers.cancelAll(by), closeMs, { ref: true })
    // An agent whose responses cannot be recorded is ended; its requests end with it, within the turn.
    if (answers.size > 0 && instance.bridge.ending)
      await settledWithin(instance.bridge.closed, closeMs, { ref: true })
    const orphaned = instance.bridge.exit === undefined ? [] : answers.orphaned()
    const { openTools, startedAt } = turn
    const data = {
      ...result,
      ...(failed && errorFacts(error)),
      ...(end.connections && { errorMessage: formatConnections(end.connections).trimStart() }),
      durationMs: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
      ...(openTools.length > 0 && { closedToolCalls: openTools }),
    }
    const finished = { type: 'turn.finished', data: withinEventValues(data) }
    await appendEnd(prompt.journal, orphaned, finished, (events) => this.#record(prompt, 'finished', events))
    this.#last = { id: prompt.turn, outcome: result.outcome }
    return failed ? error : { turn: prompt.turn, ...result }
  }

  /** Sends `session/cancel`, and stops the agent if it does not end the turn in time. */
  async #cancelNow(prompt: PromptedTurn, { turn, instance }: RunningTurn): Promise<void> {
    const { answers, agentSession: sessionId, limits } = this.#session
    // The agent gets the cancel before the cancelled responses; do not wait for an agent that does not read.
    const notified = instance.notify('session/cancel', { sessionId })
    settledWithin(notified, closeMs, { ref: true }).then(() => answers.cancelAll('cancel'))
    const max = limits.cancelMs ?? defaultCancelMs
    await Promise.race([turn.waitForAnswer(max), instance.bridge.closed])
    if (turn.answered || !instance.alive) return
    const reached = { type: 'limit.reached', data: { limit: 'turn.cancelMs', max } }
    // Ended also where the event cannot be written: the turn would stay open.
    await prompt.journal.append([reached]).catch(() => undefined)
    await instance.end(0)
  }
}

function refusal(code: 'session_busy' | 'session_queue_full', max: number): VitrineError {
  return code === 'session_busy'
    ? new VitrineError(
        code,
        'This session already has a running turn, and its queue is disabled (`queue: 0`).',
      )
    : new VitrineError(code, `This session already has ${max} queued prompts, the limit of its \`queue\`.`)
}

function cancelledResult({ turn }: PromptedTurn): PromptResult {
  return { turn, outcome: 'cancelled' }
}

/** The end of a dropped prompt as its caller got it; `session_closed` follows from the reason. */
function droppedFacts(reason: DropReason, result: PromptResult | VitrineError): JsonObject {
  if (!(result instanceof VitrineError)) return { outcome: result.outcome }
  return reason === 'failed' ? errorFacts(result) : {}
}

function errorFacts({ code, message, retryable }: VitrineError): JsonObject {
  return { errorType: 'VitrineError', errorCode: code, errorMessage: message, retryable }
}

function counts(usage: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(usage).filter(
      ([, value]) => typeof value === 'number' && Number.isInteger(value) && value >= 0,
    ),
  )
}
