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
import type { LocalSandbox } from '@vitrine/sandbox'
import { ActiveTurn } from './active-turn.ts'
import type { AgentInstance } from './agent-instance.ts'
import type { ClientTerminals } from './client-terminals.ts'
import { objectIn, textIn } from './fields.ts'
import { cancelled, closeMs, defaultCancelMs, endsWithin, withinTime } from './limits.ts'
import { modelErrorSign } from './model-error.ts'
import type { PendingRequests } from './pending-requests.ts'
import { fitBlocks, promptBlocks, shownBlocks } from './prompt-content.ts'
import { PromptQueue } from './prompt-queue.ts'
import { watchLimits } from './turn-limits.ts'

/** What turns need of their session. */
export interface TurnHost {
  readonly id: string
  readonly agent: string
  readonly journal: Journal
  readonly sandbox: LocalSandbox
  readonly answers: PendingRequests
  readonly terminals: Pick<ClientTerminals, 'made' | 'killSince'>
  readonly limits: TurnLimits
  /** The agent's own id for the session. */
  readonly agentSession: string
  /** Throws when the session is closed. */
  mustBeOpen(): void
  /** The agent that runs, brought back when it has ended. */
  ensureAgent(): Promise<AgentInstance>
  /** What the agent must be told before the next prompt, once. */
  takeRecap(): string | undefined
}

type TurnEnd = Omit<PromptResult, 'turn'> & { readonly error?: VitrineError }

/** The turns of one session: one at a time, each with one end. */
export class Turns {
  readonly #home: TurnHost
  readonly #queue: PromptQueue
  #count: number
  #current: ActiveTurn | undefined
  /** The turn that runs, from before its beginning to after its end. */
  #running: string | undefined
  /** Called once a turn that has not begun is not wanted any more. */
  #giveUp: (() => void) | undefined
  #instance: AgentInstance | undefined
  #stopped: 'cancelled' | 'timeout' | undefined
  /** Called once the answer of the agent is not waited for any more. */
  #abandon: ((why: VitrineError) => void) | undefined
  #cancelling: Promise<void> | undefined
  #over: Promise<unknown> = Promise.resolve()
  #finished: Promise<unknown> = Promise.resolve()

  constructor(home: TurnHost, options: { readonly queue: number; readonly count: number }) {
    this.#home = home
    this.#queue = new PromptQueue(options.queue)
    this.#count = options.count
  }

  get count(): number {
    return this.#count
  }

  get busy(): boolean {
    return this.#queue.busy
  }

  /** The turn that runs and that the agent has not answered. */
  get current(): ActiveTurn | undefined {
    return this.#current?.answered === false ? this.#current : undefined
  }

  /** Whom something belongs to that happens now. */
  get context(): EventContext {
    return this.current?.context ?? { session: this.#home.id }
  }

  /** Settles when the turn that runs is over and on record. */
  get over(): Promise<unknown> {
    return this.#over
  }

  /** Settles when the turn that an agent works on is on record; one that waits for its agent has not begun. */
  get finished(): Promise<unknown> {
    return this.#finished
  }

  prompt(
    content: string | readonly ContentBlock[],
    { turn = newId('turn'), signal }: PromptOptions,
  ): Promise<PromptResult> {
    const blocks = promptBlocks(content)
    if (signal?.aborted) return Promise.resolve({ turn, outcome: 'cancelled' })
    const cancel = () => {
      if (!this.#queue.drop(turn) && this.#running === turn) void this.#stop('cancelled')
    }
    signal?.addEventListener('abort', cancel, { once: true })
    const answer = this.#queue.add(turn, () => {
      const over = this.#run(turn, blocks)
      this.#over = over.catch(() => undefined)
      return over
    })
    return answer.finally(() => signal?.removeEventListener('abort', cancel))
  }

  /** Ends the turn that runs, and answers those that wait. */
  async cancel(waiting: (turn: string) => PromptResult | VitrineError): Promise<void> {
    this.#queue.answerWaiting(waiting)
    await this.#stop('cancelled')
    await this.#over
  }

  /** Its agent goes on without it: the turn that runs ends as it was stopped, whatever the agent still says. */
  abandon(): void {
    this.#abandon?.(cancelled('The turn'))
  }

  async #run(id: string, blocks: readonly ContentBlock[]): Promise<PromptResult> {
    this.#running = id
    this.#stopped = undefined
    try {
      return await this.#begin(id, blocks)
    } finally {
      this.#running = undefined
    }
  }

  async #begin(id: string, blocks: readonly ContentBlock[]): Promise<PromptResult> {
    this.#home.mustBeOpen()
    let instance = await this.#ready()
    // One that has ended meanwhile is brought back first: no turn begins in a session that is closed.
    while (instance?.alive === false) instance = await this.#ready()
    // Called off before it began: nobody was asked anything.
    if (instance === undefined) return { turn: id, outcome: 'cancelled' }
    const prompt = fitBlocks(this.#home.agent, blocks, objectIn(instance.capabilities.promptCapabilities))
    const turn = this.#turn(id, instance, blocks, prompt)
    this.#finished = turn.catch(() => undefined)
    return turn
  }

  /** The agent, once it is there; nothing when it is not wanted any more. */
  async #ready(): Promise<AgentInstance | undefined> {
    const stopped = new Promise<undefined>((resolve) => {
      this.#giveUp = () => resolve(undefined)
    })
    // What was changed before belongs to what was before.
    const settled = this.#home.sandbox.settleFiles().catch(() => undefined)
    const instance = await Promise.race([this.#home.ensureAgent(), stopped])
    await settled
    return this.#stopped === undefined ? instance : undefined
  }

  async #turn(
    id: string,
    instance: AgentInstance,
    blocks: readonly ContentBlock[],
    prompt: readonly ContentBlock[],
  ): Promise<PromptResult> {
    const { sandbox, journal: base } = this.#home
    const turn = new ActiveTurn(this.#home.id, id, () => instance.bridge.transport.now())
    const journal = base.as({ turn: id })
    await journal.append([
      { type: 'turn.started', data: { index: this.#count, prompt: shownBlocks(blocks) } },
    ])
    this.#count += 1
    this.#current = turn
    this.#instance = instance
    const { made } = this.#home.terminals
    const leave = sandbox.beginTurn({ session: this.#home.id, turn: id })
    const unwatch = watchLimits(turn, this.#home, journal, () => void this.#stop('timeout'))
    try {
      const abandoned = new Promise<never>((_resolve, reject) => {
        this.#abandon = reject
      })
      const answer = Promise.race([this.#ask(instance, turn, prompt), abandoned])
      const asked = answer.catch((error: unknown) => this.#failed(error))
      // Called off while it began; the agent hears of the prompt first, and then of its end.
      if (this.#stopped !== undefined) void this.#stop(this.#stopped)
      const ending = await asked
      turn.setAnswered()
      await this.#cancelling
      await this.#endTools(turn, instance, made)
      await sandbox.settleFiles().catch(() => undefined)
      return await this.#finish(turn, journal, instance, ending)
    } finally {
      unwatch()
      leave()
      this.#current = undefined
      this.#cancelling = undefined
      this.#abandon = undefined
    }
  }

  /** What runs in tool calls that were left open; whose it is cannot be told while another session has a turn too. */
  async #endTools({ openSince }: ActiveTurn, instance: AgentInstance, made: number): Promise<void> {
    if (openSince === undefined || !instance.alive) return
    await endsWithin(this.#home.terminals.killSince(made), closeMs)
    const others = instance.sessions.all.filter(({ id }) => id !== this.#home.id)
    if (!others.some(({ info }) => info.busy)) instance.bridge.transport.endChildrenSince(openSince)
  }

  async #ask(instance: AgentInstance, turn: ActiveTurn, blocks: readonly ContentBlock[]): Promise<TurnEnd> {
    const { agent, agentSession: sessionId } = this.#home
    const told = this.#home.takeRecap()
    const prompt = told === undefined ? blocks : [{ type: 'text', text: told }, ...blocks]
    const answer = await instance.request(
      'session/prompt',
      { sessionId, prompt },
      { ms: Number.POSITIVE_INFINITY },
    )
    const stopReason = textIn(answer, 'stopReason')
    if (stopReason === undefined)
      throw new VitrineError(
        'agent_protocol_error',
        `The agent ${agent} ended its turn without a stop reason: ${JSON.stringify(answer).slice(0, 200)}`,
      )
    const usage = objectIn(answer, 'usage')
    const { text, updates } = turn
    const modelError = modelErrorSign(instance.quirks, { text, updates, stopReason })
    return {
      outcome: this.#stopped === 'timeout' ? 'timeout' : stopReason === 'cancelled' ? 'cancelled' : 'ok',
      stopReason,
      ...(usage && { usage: counts(usage) }),
      ...(modelError && { modelError }),
    }
  }

  /** An error after a cancel is what became of the cancel. */
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
    const { answers } = this.#home
    const failed = result.outcome === 'failed' && error !== undefined
    // What was asked and not answered in this turn is not asked any more.
    // An agent may end its turn on the cancel before it hears the answers; they are called off by the cancel all the same.
    const by = this.#stopped === undefined ? 'the end of the turn' : 'cancel'
    if (instance.bridge.exit === undefined) await endsWithin(answers.cancelAll(by), closeMs)
    const orphaned = instance.bridge.exit === undefined ? [] : answers.orphaned()
    const { openTools, began } = turn
    const data = {
      ...result,
      ...(failed && errorFacts(error)),
      durationMs: Math.round((performance.now() - began) * 1_000) / 1_000,
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
    // Once the agent has answered there is nothing to stop.
    if (this.#current === undefined || turn !== undefined) this.#stopped ??= why
    this.#giveUp?.()
    if (turn === undefined || instance === undefined) return Promise.resolve()
    this.#cancelling ??= this.#cancelNow(turn, instance).catch(() => undefined)
    return this.#cancelling
  }

  /** Asks the agent to stop, and after a while does not ask any more. */
  async #cancelNow(turn: ActiveTurn, instance: AgentInstance): Promise<void> {
    const { answers, agentSession: sessionId, limits, journal } = this.#home
    // The agent hears of the cancel before it hears the answers; one that does not read is not waited for.
    withinTime(instance.notify('session/cancel', { sessionId }), closeMs, 'session/cancel')
      .catch(() => undefined)
      .then(() => answers.cancelAll('cancel'))
    const max = limits.cancelMs ?? defaultCancelMs
    await Promise.race([turn.answeredWithin(max), instance.bridge.closed])
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
