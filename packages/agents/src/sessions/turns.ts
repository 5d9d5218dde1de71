import type { Journal } from '@vitrine/journal'
import {
  type ContentBlock,
  type EventContext,
  type JsonObject,
  newId,
  type Outcome,
  type PromptOptions,
  type PromptResult,
  type TurnLimits,
  toVitrineError,
  VitrineError,
} from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import type { LocalSandbox } from '@vitrine/sandbox'
import { ActiveTurn } from './active-turn.ts'
import type { AgentInstance } from './agent-instance.ts'
import type { ClientTerminals } from './client-terminals.ts'
import { objectIn, textIn } from './fields.ts'
import { cancelled, closeMs, defaultCancelMs } from './limits.ts'
import { modelErrorSign } from './model-error.ts'
import type { PendingRequests } from './pending-requests.ts'
import { fitBlocks, promptBlocks, shownBlocks } from './prompt-content.ts'
import { PromptQueue } from './prompt-queue.ts'
import { watchLimits } from './turn-limits.ts'

/** The parts of a session that its turns use. */
export interface TurnHost {
  readonly id: string
  readonly agent: string
  readonly journal: Journal
  readonly sandbox: LocalSandbox
  readonly answers: PendingRequests
  readonly terminals: Pick<ClientTerminals, 'createdCount' | 'killSince'>
  readonly limits: TurnLimits
  /** The agent's own id for the session. */
  readonly agentSession: string
  /** Throws when the session is closed. */
  assertOpen(): void
  /** The running agent; started again when it has exited. */
  ensureAgent(): Promise<AgentInstance>
  /** The recap to send before the next prompt; returned once. */
  takeRecap(): string | undefined
}

type TurnEnd = Omit<PromptResult, 'turn'> & { readonly error?: VitrineError }

/** Runs the turns of one session, one at a time, and records exactly one end for each. */
export class SessionTurns {
  readonly #session: TurnHost
  readonly #queue: PromptQueue
  #count: number
  #current: ActiveTurn | undefined
  /** Id of the turn from when it leaves the queue until it has ended. */
  #running: string | undefined
  /** Stops waiting for the agent, for a turn that is cancelled before it starts. */
  #stopWaiting: (() => void) | undefined
  #instance: AgentInstance | undefined
  #stopped: 'cancelled' | 'timeout' | undefined
  /** Stops waiting for the agent's response. */
  #abandon: ((why: VitrineError) => void) | undefined
  #cancelling: Promise<void> | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #finished: Promise<unknown> = Promise.resolve()

  constructor(session: TurnHost, options: { readonly queue: number; readonly count: number }) {
    this.#session = session
    this.#queue = new PromptQueue(options.queue)
    this.#count = options.count
  }

  get count(): number {
    return this.#count
  }

  get busy(): boolean {
    return this.#queue.busy
  }

  /** The running turn, until the agent has responded to its prompt. */
  get current(): ActiveTurn | undefined {
    return this.#current?.answered === false ? this.#current : undefined
  }

  /** Session and turn of events that happen now. */
  get context(): EventContext {
    return this.current?.context ?? { session: this.#session.id }
  }

  /** Settles when the running turn, started or not, has ended. */
  get ended(): Promise<unknown> {
    return this.#ended
  }

  /** Settles when the end of the started turn is recorded; a turn that waits for its agent has not started. */
  get finished(): Promise<unknown> {
    return this.#finished
  }

  prompt(
    content: string | readonly ContentBlock[],
    { turn = newId('turn'), signal, caller }: PromptOptions & { readonly caller?: string },
  ): Promise<PromptResult> {
    const blocks = promptBlocks(content)
    if (signal?.aborted) return Promise.resolve({ turn, outcome: 'cancelled' })
    const cancel = () => {
      if (!this.#queue.drop(turn) && this.#running === turn) void this.#stop('cancelled')
    }
    signal?.addEventListener('abort', cancel, { once: true })
    const result = this.#queue.add(turn, () => {
      const result = this.#run(turn, blocks, caller === undefined ? {} : { caller })
      this.#ended = result.catch(() => undefined)
      return result
    })
    return result.finally(() => signal?.removeEventListener('abort', cancel))
  }

  /** Cancels the running turn, and ends the queued prompts with the given results. */
  async cancel(queuedResult: (turn: string) => PromptResult | VitrineError): Promise<void> {
    this.#queue.endQueued(queuedResult)
    await this.#stop('cancelled')
    await this.#ended
  }

  /** Ends the running turn without waiting for the agent, which keeps running for other sessions. */
  abandon(): void {
    this.#abandon?.(cancelled('The turn'))
  }

  async #run(id: string, blocks: readonly ContentBlock[], by: EventContext): Promise<PromptResult> {
    this.#running = id
    this.#stopped = undefined
    try {
      return await this.#start(id, blocks, by)
    } finally {
      this.#running = undefined
    }
  }

  async #start(id: string, blocks: readonly ContentBlock[], by: EventContext): Promise<PromptResult> {
    this.#session.assertOpen()
    let instance = await this.#waitForAgent()
    // Restart an agent that exited meanwhile: no turn starts in a session that is recorded as closed.
    while (instance?.alive === false) instance = await this.#waitForAgent()
    // Cancelled before the prompt was sent.
    if (instance === undefined) return { turn: id, outcome: 'cancelled' }
    const prompt = fitBlocks(this.#session.agent, blocks, objectIn(instance.capabilities.promptCapabilities))
    const turn = this.#turn(id, instance, by, blocks, prompt)
    this.#finished = turn.catch(() => undefined)
    return turn
  }

  /** Waits for the agent; undefined when the turn is cancelled meanwhile. */
  async #waitForAgent(): Promise<AgentInstance | undefined> {
    const stopped = new Promise<undefined>((resolve) => {
      this.#stopWaiting = () => resolve(undefined)
    })
    // Record earlier file changes now, so that they are not attributed to this turn.
    const settled = this.#session.sandbox.flushFiles().catch(() => undefined)
    const instance = await Promise.race([this.#session.ensureAgent(), stopped])
    await settled
    return this.#stopped === undefined ? instance : undefined
  }

  async #turn(
    id: string,
    instance: AgentInstance,
    by: EventContext,
    blocks: readonly ContentBlock[],
    prompt: readonly ContentBlock[],
  ): Promise<PromptResult> {
    const { sandbox, journal: base } = this.#session
    const turn = new ActiveTurn(this.#session.id, id, () => instance.bridge.transport.processMark(), by)
    const journal = base.as({ ...by, turn: id })
    await journal.append([
      { type: 'turn.started', data: { index: this.#count, prompt: shownBlocks(blocks) } },
    ])
    this.#count += 1
    this.#current = turn
    this.#instance = instance
    const { createdCount } = this.#session.terminals
    const endTurn = sandbox.beginTurn({ ...by, session: this.#session.id, turn: id })
    const stopTimers = watchLimits(turn, this.#session, journal, () => void this.#stop('timeout'))
    try {
      const abandoned = new Promise<never>((_resolve, reject) => {
        this.#abandon = reject
      })
      const response = Promise.race([this.#prompt(instance, turn, prompt), abandoned])
      const settled = response.catch((error: unknown) => this.#failed(error))
      // A turn cancelled during its start: the agent must get the prompt before the cancel.
      if (this.#stopped !== undefined) void this.#stop(this.#stopped)
      const end = await settled
      turn.setAnswered()
      await this.#cancelling
      await this.#endTools(turn, instance, createdCount)
      await sandbox.flushFiles().catch(() => undefined)
      return await this.#finish(turn, journal, instance, end)
    } finally {
      stopTimers()
      endTurn()
      this.#current = undefined
      this.#cancelling = undefined
      this.#abandon = undefined
    }
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

  async #prompt(
    instance: AgentInstance,
    turn: ActiveTurn,
    blocks: readonly ContentBlock[],
  ): Promise<TurnEnd> {
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
      throw new VitrineError(
        'agent_protocol_error',
        `The agent ${agent} ended its turn without a stop reason: ${JSON.stringify(result).slice(0, 200)}`,
      )
    const usage = objectIn(result, 'usage')
    const { text, updates } = turn
    const modelError = modelErrorSign(instance.quirks, { text, updates, stopReason })
    return {
      outcome: this.#stopped === 'timeout' ? 'timeout' : stopReason === 'cancelled' ? 'cancelled' : 'ok',
      stopReason,
      ...(usage && { usage: counts(usage) }),
      ...(modelError && { modelError }),
    }
  }

  /** An error after a cancel or a timeout is reported with that outcome. */
  #failed(error: unknown): TurnEnd {
    const outcome: Outcome = this.#stopped ?? 'failed'
    return { outcome, error: toVitrineError(error, 'agent_failed') }
  }

  async #finish(
    turn: ActiveTurn,
    journal: Journal,
    instance: AgentInstance,
    { error, ...result }: TurnEnd,
  ): Promise<PromptResult> {
    const { answers } = this.#session
    const failed = result.outcome === 'failed' && error !== undefined
    // Cancel the permissions and questions that are still pending. If the turn was stopped, the cancel is the reason,
    // even when the agent ended the turn before it got the cancelled responses.
    const by = this.#stopped === undefined ? 'turn-end' : 'cancel'
    if (instance.bridge.exit === undefined) await settledWithin(answers.cancelAll(by), closeMs, { ref: true })
    const orphaned = instance.bridge.exit === undefined ? [] : answers.orphaned()
    const { openTools, startedAt } = turn
    const data = {
      ...result,
      ...(failed && errorFacts(error)),
      durationMs: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
      ...(openTools.length > 0 && { closedToolCalls: openTools }),
    }
    await journal.append([...orphaned, { type: 'turn.finished', data }])
    if (failed) throw error
    return { turn: turn.id, ...result }
  }

  #stop(why: 'cancelled' | 'timeout'): Promise<void> {
    if (this.#running === undefined) return Promise.resolve()
    const turn = this.current
    const instance = this.#instance
    // After the agent's response there is nothing to stop.
    if (this.#current === undefined || turn !== undefined) this.#stopped ??= why
    this.#stopWaiting?.()
    if (turn === undefined || instance === undefined) return Promise.resolve()
    this.#cancelling ??= this.#cancelNow(turn, instance).catch(() => undefined)
    return this.#cancelling
  }

  /** Sends `session/cancel`, and stops the agent if it does not end the turn in time. */
  async #cancelNow(turn: ActiveTurn, instance: AgentInstance): Promise<void> {
    const { answers, agentSession: sessionId, limits, journal } = this.#session
    // The agent gets the cancel before the cancelled responses; do not wait for an agent that does not read.
    const notified = instance.notify('session/cancel', { sessionId })
    settledWithin(notified, closeMs, { ref: true }).then(() => answers.cancelAll('cancel'))
    const max = limits.cancelMs ?? defaultCancelMs
    await Promise.race([turn.waitForAnswer(max), instance.bridge.closed])
    if (turn.answered || !instance.alive) return
    await journal.append([{ type: 'limit.reached', turn: turn.id, data: { limit: 'turn.cancelMs', max } }])
    await instance.end(0)
  }
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
