import type { Journal } from '@vitrine/journal'
import {
  type ContentBlock,
  type EventContext,
  type EventInput,
  isVitrineError,
  type JournalEvent,
  type JournalItem,
  type JsonObject,
  newId,
  type OpenSessionOptions,
  type Outcome,
  type PendingPermission,
  type PendingQuestion,
  type PermissionAnswer,
  type PromptResult,
  type QuestionAnswer,
  type Session,
  type SessionInfo,
  toVitrineError,
  VitrineError,
} from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
import type { Direction, Meaning } from '../bridge/bridge.ts'
import { type Envelope, idKey } from '../bridge/envelope.ts'
import { foreignMethod } from '../bridge/function-transport.ts'
import type { AgentExit } from '../bridge/transport.ts'
import { ActiveTurn } from './active-turn.ts'
import type { AgentInstance } from './agent-instance.ts'
import { ClientTerminals } from './client-terminals.ts'
import { chosen, type KnownOption, readOptions, shownOptions, withCurrent } from './config-options.ts'
import { objectIn, textIn } from './fields.ts'
import { closeMs, defaultCancelMs, defaultQueue, withinTime } from './limits.ts'
import { modelErrorSign } from './model-error.ts'
import { elicitation, Permission, planApproval, type Question } from './pending.ts'
import { ruleFor, type SettledRules, settleRules } from './permissions.ts'
import { fitBlocks, promptBlocks, shownBlocks } from './prompt-content.ts'
import { PromptQueue } from './prompt-queue.ts'
import type { OpenRequest } from './requests.ts'

/** What a session needs of where it lives. */
export interface SessionHome {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  /** Brings an agent for a session that lost its own: restored, with what it must be told first. */
  restore(session: AgentSession): Promise<Restored>
  /** Called once a session is over. */
  closed(session: AgentSession): Promise<void>
  fork(session: AgentSession, id: string | undefined): Promise<Session>
  transcript(session: AgentSession): Promise<JsonObject>
}

export interface Restored {
  readonly instance: AgentInstance
  readonly answer: JsonObject
  readonly agentSession: string
  /** What was said before, for an agent that remembers nothing. */
  readonly told?: string
}

type State = 'open' | 'lost' | 'closed'

/** One conversation with an agent. */
export class AgentSession implements Session {
  readonly id: string
  readonly agent: string
  readonly options: OpenSessionOptions
  readonly cwd: string
  readonly createdAt: string
  readonly terminals = new ClientTerminals()
  readonly journal: Journal
  readonly #home: SessionHome
  readonly #rules: SettledRules
  readonly #queue: PromptQueue
  readonly #permissions = new Map<string, Permission>()
  readonly #questions = new Map<string, Question>()
  #instance: AgentInstance | undefined
  #agentSession = ''
  #options: readonly KnownOption[] = []
  #title: string | undefined
  #turn: ActiveTurn | undefined
  #turns: number
  #state: State = 'lost'
  #told: string | undefined
  #ended: 'cancelled' | 'timeout' | undefined
  #cancelling: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #turnOver: Promise<unknown> = Promise.resolve()

  constructor(
    home: SessionHome,
    options: OpenSessionOptions & { readonly id: string },
    known: {
      readonly cwd: string
      readonly createdAt: string
      readonly turns: number
      readonly title?: string
    },
  ) {
    this.id = options.id
    this.agent = options.agent
    this.options = options
    this.cwd = known.cwd
    this.createdAt = known.createdAt
    this.journal = home.journal.as({ source: 'host', session: this.id })
    this.#turns = known.turns
    this.#title = known.title
    this.#home = home
    this.#rules = settleRules(options.permissions)
    this.#queue = new PromptQueue(options.queue ?? defaultQueue)
  }

  get info(): SessionInfo {
    return {
      id: this.id,
      agent: this.agent,
      state: this.#state === 'closed' ? 'closed' : 'open',
      createdAt: this.createdAt,
      cwd: this.cwd,
      turns: this.#turns,
      busy: this.#queue.busy,
      options: shownOptions(this.#options),
      ...(this.#title !== undefined && { title: this.#title }),
      ...(this.#agentSession !== '' && { agentSession: this.#agentSession }),
    }
  }

  /** What belongs to the turn that runs. */
  get turnContext(): { readonly turn?: string } {
    return this.#turn?.answered === false ? { turn: this.#turn.id } : {}
  }

  get instance(): AgentInstance | undefined {
    return this.#instance
  }

  get agentSession(): string {
    return this.#agentSession
  }

  /** It has an agent now. */
  begin({ instance, answer, agentSession, told }: Restored): void {
    this.#instance = instance
    this.#agentSession = agentSession
    this.#options = readOptions(answer)
    this.#told = told
    this.#state = 'open'
    instance.sessions.set(agentSession, this)
  }

  /** The same sandbox; what the agent does through us belongs to its session and its turn. */
  acting(): LocalSandbox {
    return this.#home.sandbox.as({ session: this.id, actor: this.agent, ...this.turnContext })
  }

  prompt(
    content: string | readonly ContentBlock[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<PromptResult> {
    try {
      this.#mustBeOpen()
      const blocks = promptBlocks(content)
      const turn = newId('turn')
      if (signal?.aborted) return Promise.resolve({ turn, outcome: 'cancelled' })
      const cancel = () => {
        if (!this.#queue.drop(turn) && this.#turn?.id === turn) void this.#cancelTurn('cancelled')
      }
      signal?.addEventListener('abort', cancel, { once: true })
      const answer = this.#queue.add(turn, () => {
        const over = this.#runTurn(turn, blocks, signal)
        this.#turnOver = over.catch(() => undefined)
        return over
      })
      return answer.finally(() => signal?.removeEventListener('abort', cancel))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #runTurn(id: string, blocks: readonly ContentBlock[], signal?: AbortSignal): Promise<PromptResult> {
    this.#mustBeOpen()
    const { sandbox } = this.#home
    // What was changed before belongs to what was before.
    await sandbox.settleFiles().catch(() => undefined)
    const instance = await this.#agentForTurn()
    const turn = new ActiveTurn(this.id, id, () => instance.bridge.transport.now())
    this.#turn = turn
    this.#ended = undefined
    const journal = this.journal.as({ turn: id })
    const index = this.#turns
    this.#turns += 1
    const leave = sandbox.beginTurn({ session: this.id, turn: id })
    const unwatch = this.#watchLimits(turn, journal)
    try {
      await journal.append([{ type: 'turn.started', data: { index, prompt: shownBlocks(blocks) } }])
      const ending = await this.#ask(instance, turn, blocks, signal).catch((error: unknown) => ({
        outcome: this.#ended ?? ('failed' as const),
        error: toVitrineError(error, 'agent_failed'),
      }))
      await this.#cancelling
      turn.setAnswered()
      this.#endLeftovers(instance, turn)
      await sandbox.settleFiles().catch(() => undefined)
      const result = await this.#finish(turn, journal, ending)
      if ('error' in ending && ending.outcome === 'failed') throw ending.error
      return result
    } finally {
      unwatch()
      leave()
      this.#turn = undefined
      this.#cancelling = undefined
    }
  }

  async #ask(
    instance: AgentInstance,
    turn: ActiveTurn,
    blocks: readonly ContentBlock[],
    signal: AbortSignal | undefined,
  ): Promise<Ending> {
    const { promptCapabilities } = instance.capabilities
    const fitting = fitBlocks(this.agent, blocks, objectIn(promptCapabilities))
    const told = this.#told
    this.#told = undefined
    const prompt = told === undefined ? fitting : [{ type: 'text', text: told }, ...fitting]
    const asked = instance.request(
      'session/prompt',
      { sessionId: this.#agentSession, prompt },
      { ms: Number.POSITIVE_INFINITY },
    )
    if (signal?.aborted) void this.#cancelTurn('cancelled')
    const answer = await asked
    const stopReason = textIn(answer, 'stopReason')
    if (stopReason === undefined)
      throw new VitrineError(
        'agent_confused',
        `The agent ${this.agent} ended its turn without a stop reason: ${JSON.stringify(answer).slice(0, 200)}`,
      )
    const usage = objectIn(answer, 'usage')
    const outcome = this.#ended === 'timeout' ? 'timeout' : stopReason === 'cancelled' ? 'cancelled' : 'ok'
    const { text, updates } = turn
    const modelError = modelErrorSign(instance.quirks, { text, updates, stopReason })
    return { outcome, stopReason, ...(usage && { usage: counts(usage) }), ...(modelError && { modelError }) }
  }

  /** What the agent left open is over; what it left running too. */
  #endLeftovers(instance: AgentInstance, turn: ActiveTurn): void {
    const since = turn.openSince
    if (since !== undefined && instance.alive) instance.bridge.transport.endChildrenSince(since)
    for (const permission of this.#permissions.values()) permission.cancel('the end of the turn')
    for (const question of this.#questions.values()) question.cancel('the end of the turn')
  }

  async #finish(turn: ActiveTurn, journal: Journal, ending: Ending | Failure): Promise<PromptResult> {
    const { outcome } = ending
    const { openTools } = turn
    const facts = 'error' in ending ? failureFacts(ending.error, outcome) : ending
    const unanswered = [...this.#permissions.values(), ...this.#questions.values()]
    // An agent that is gone answers nothing: its questions end with it.
    const orphaned = this.#instance?.alive ? [] : unanswered.map((one) => one.resolved(undefined))
    if (!this.#instance?.alive) {
      this.#permissions.clear()
      this.#questions.clear()
    }
    await journal.append([
      ...orphaned,
      {
        type: 'turn.finished',
        data: {
          ...facts,
          outcome,
          durationMs: Math.round((performance.now() - turn.began) * 1_000) / 1_000,
          ...(openTools.length > 0 && { closedToolCalls: openTools }),
        },
      },
    ])
    if ('error' in ending) return { turn: turn.id, outcome }
    return { turn: turn.id, ...ending }
  }

  #watchLimits(turn: ActiveTurn, journal: Journal): () => void {
    const { idleMs, totalMs } = this.options.limits ?? {}
    const reached = (limit: string, max: number) => {
      journal.append([{ type: 'limit.reached', data: { limit, max } }]).catch(() => undefined)
      void this.#cancelTurn('timeout')
    }
    const total =
      totalMs === undefined ? undefined : setTimeout(() => reached('turn.totalMs', totalMs), totalMs)
    let idle: NodeJS.Timeout | undefined
    const watchIdle = (max: number, wait: number) => {
      idle = setTimeout(() => {
        // Who waits for a person is not idle.
        const waiting = this.#permissions.size + this.#questions.size > 0
        const left = max - (performance.now() - (waiting ? performance.now() : turn.lastHeard))
        if (left <= 0) reached('turn.idleMs', max)
        else watchIdle(max, left)
      }, wait)
    }
    if (idleMs !== undefined) watchIdle(idleMs, idleMs)
    return () => {
      clearTimeout(total)
      clearTimeout(idle)
    }
  }

  /** Ends the turn that runs, and answers those that wait. */
  async cancel(): Promise<void> {
    this.#queue.answerWaiting((turn) => ({ turn, outcome: 'cancelled' }))
    await this.#cancelTurn('cancelled')
    await this.#turnOver
  }

  #cancelTurn(why: 'cancelled' | 'timeout'): Promise<void> {
    const turn = this.#turn
    const instance = this.#instance
    if (turn === undefined || turn.answered || instance === undefined) return Promise.resolve()
    this.#ended ??= why
    this.#cancelling ??= this.#cancelNow(turn, instance).catch(() => undefined)
    return this.#cancelling
  }

  async #cancelNow(turn: ActiveTurn, instance: AgentInstance): Promise<void> {
    for (const permission of this.#permissions.values()) permission.cancel('cancel')
    for (const question of this.#questions.values()) question.cancel('cancel')
    await instance.notify('session/cancel', { sessionId: this.#agentSession })
    const cancelMs = this.options.limits?.cancelMs ?? defaultCancelMs
    const until = performance.now() + cancelMs
    while (!turn.answered && instance.alive && performance.now() < until) await turn.answeredWithin(50)
    if (turn.answered || !instance.alive) return
    const data = { limit: 'turn.cancelMs', max: cancelMs }
    await this.journal.append([{ type: 'limit.reached', turn: turn.id, data }])
    await instance.end(0)
  }

  onEvent(listener: (event: JournalEvent) => void): () => void {
    return this.#home.journal.tap((event) => {
      if (event.session === this.id) listener(event)
    })
  }

  events(
    options: { readonly after?: string; readonly signal?: AbortSignal } = {},
  ): AsyncIterableIterator<JournalItem> {
    return this.#home.journal.tail({ ...options, session: this.id })
  }

  transcript(): Promise<JsonObject> {
    return this.#home.transcript(this)
  }

  setMode(mode: string): Promise<void> {
    return this.#choose({ category: 'mode' }, mode)
  }

  setModel(model: string): Promise<void> {
    return this.#choose({ category: 'model' }, model)
  }

  setThoughtLevel(level: string): Promise<void> {
    return this.#choose({ category: 'thought_level' }, level)
  }

  setConfigOption(id: string, value: string | boolean): Promise<void> {
    return this.#choose({ id }, value)
  }

  /** What the session was opened with. */
  async choose(mode: string | undefined): Promise<void> {
    const { model, thoughtLevel } = this.options
    if (model !== undefined) await this.setModel(model)
    if (thoughtLevel !== undefined) await this.setThoughtLevel(thoughtLevel)
    if (this.options.mode !== undefined) await this.setMode(this.options.mode)
    else if (mode !== undefined) await this.setMode(mode)
  }

  async #choose(wanted: { category?: string; id?: string }, value: string | boolean): Promise<void> {
    this.#mustBeOpen()
    const instance = await this.#agentForTurn()
    const option = chosen(this.agent, this.#options, wanted, value)
    const { via, id } = option
    const sessionId = this.#agentSession
    const answer =
      via === 'mode'
        ? await instance.request('session/set_mode', { sessionId, modeId: String(value) })
        : via === 'model'
          ? await instance.request('session/set_model', { sessionId, modelId: String(value) })
          : await instance.request('session/set_config_option', {
              sessionId,
              configId: id,
              ...(typeof value === 'boolean' ? { type: 'boolean', value } : { value }),
            })
    const told = readOptions(answer)
    this.#options = told.length > 0 ? told : withCurrent(this.#options, id, value)
    await this.journal.append([this.#updated({ options: shownOptions(this.#options) })])
  }

  get permissions(): readonly PendingPermission[] {
    return [...this.#permissions.values()].filter(({ decided }) => !decided).map(({ pending }) => pending)
  }

  async respondPermission(id: string, answer: PermissionAnswer): Promise<void> {
    const permission = [...this.#permissions.values()].find((one) => one.id === id)
    if (permission === undefined || permission.decided)
      throw new VitrineError('permission_not_pending', `The permission ${id} waits for no answer.`)
    permission.respond(answer, 'code')
    await permission.recorded
  }

  get questions(): readonly PendingQuestion[] {
    return [...this.#questions.values()].filter(({ decided }) => !decided).map(({ pending }) => pending)
  }

  async respondQuestion(id: string, answer: QuestionAnswer): Promise<void> {
    const question = [...this.#questions.values()].find((one) => one.id === id)
    if (question === undefined || question.decided)
      throw new VitrineError('question_not_pending', `The question ${id} waits for no answer.`)
    question.respond(answer, 'code')
    await question.recorded
  }

  close(reason = 'closed'): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  async #close(reason: string): Promise<void> {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#queue.answerWaiting(() => this.#closedError())
    const instance = this.#instance
    if (instance?.alive) {
      await withinTime(
        this.#cancelTurn('cancelled').then(() => this.#turnOver),
        closeMs,
        'cancel',
      ).catch(() => undefined)
      const last = [...instance.sessions.values()].every((other) => other === this)
      if (!last && instance.can('close'))
        await instance
          .request('session/close', { sessionId: this.#agentSession }, { ms: closeMs })
          .catch(() => undefined)
      await this.#home.closed(this)
    }
    await this.#turnOver
    await this.terminals.close()
    await this.journal.append([{ type: 'session.closed', data: { reason, endedBy: 'host' } }])
    await this.#home.closed(this)
  }

  fork({ id }: { readonly id?: string } = {}): Promise<Session> {
    this.#mustBeOpen()
    return this.#home.fork(this, id)
  }

  /** Its agent has ended: by itself, or because it was ended. */
  async agentGone(instance: AgentInstance, exit: AgentExit): Promise<void> {
    if (this.#instance !== instance) return
    if (this.#state === 'open') this.#state = 'lost'
    // The turn that ran says first how it ended.
    await this.#turnOver
    await this.terminals.close()
    if (this.#state !== 'lost') return
    const { exitCode, signal, stderr } = exit
    const { message } = instance.bridge.gone()
    await this.journal
      .append([
        {
          type: 'session.closed',
          data: {
            reason: 'agent_exited',
            endedBy: instance.endedByHost ? 'host' : 'agent',
            errorCode: 'agent_exited',
            errorMessage: message,
            exitCode,
            signal,
            stderr,
          },
        },
      ])
      .catch(() => undefined)
  }

  async #agentForTurn(): Promise<AgentInstance> {
    if (this.#instance?.alive && this.#state === 'open') return this.#instance
    if (this.#instance !== undefined) await this.#instance.bridge.closed
    this.begin(await this.#home.restore(this))
    return this.#instance ?? this.#lost()
  }

  #lost(): never {
    throw new VitrineError('agent_exited', `The agent ${this.agent} of this session has ended.`)
  }

  #mustBeOpen(): void {
    if (this.#state === 'closed') throw this.#closedError()
  }

  #closedError(): VitrineError {
    return new VitrineError('session_closed', `The session ${this.id} with ${this.agent} is closed.`, {
      details: { session: this.id, agent: this.agent },
    })
  }

  #updated(data: EventInput['data'] & {}): EventInput {
    return { type: 'session.updated', session: this.id, derived: true, data }
  }

  /** What a message of this session means beyond itself. */
  meaning(
    envelope: Exclude<Envelope, { kind: 'response' }>,
    direction: Direction,
    params: unknown,
    replay: boolean,
  ): Meaning {
    const turn = this.#turn
    const current = turn !== undefined && !turn.answered ? turn : undefined
    const context = current?.context ?? { session: this.id }
    if (replay) return { context, replay }
    if (direction === 'in') return { context }
    if (current !== undefined) current.lastHeard = performance.now()
    if (envelope.kind === 'notification') {
      if (envelope.method === foreignMethod) return foreign(context, params)
      const update = envelope.method === 'session/update' ? objectIn(params, 'update') : undefined
      if (update === undefined) return { context }
      current?.hear(update)
      const events = this.#aboutSession(update)
      return events === undefined ? { context } : { context, events }
    }
    const asked = this.#asked(envelope, context, params, current)
    return asked === undefined ? { context } : { context, events: [asked.requested()] }
  }

  /** Kept for lists, and said once where it is about the session and not the conversation. */
  #aboutSession(update: JsonObject): EventInput[] | undefined {
    switch (update.sessionUpdate) {
      case 'session_info_update': {
        if (!('title' in update)) return undefined
        this.#title = textIn(update, 'title')
        return [this.#updated({ title: this.#title ?? null })]
      }
      case 'current_mode_update': {
        const mode = this.#options.find(({ category }) => category === 'mode')
        const current = textIn(update, 'currentModeId')
        if (mode === undefined || current === undefined) return undefined
        this.#options = withCurrent(this.#options, mode.id, current)
        return [this.#updated({ options: shownOptions(this.#options) })]
      }
      case 'config_option_update': {
        const options = readOptions(update)
        if (options.length === 0) return undefined
        const others = this.#options.filter(({ via }) => via !== 'config')
        this.#options = [...options, ...others.filter(({ id }) => !options.some((one) => one.id === id))]
        return [this.#updated({ options: shownOptions(this.#options) })]
      }
      default:
        return undefined
    }
  }

  #asked(
    envelope: Envelope & { kind: 'request' },
    context: EventContext,
    params: unknown,
    turn: ActiveTurn | undefined,
  ): Permission | Question | undefined {
    const key = idKey(envelope.id)
    if (envelope.method === 'elicitation/create') {
      const question = elicitation(envelope.id, context, params)
      this.#questions.set(key, question)
      return question
    }
    if (envelope.method !== 'session/request_permission') return undefined
    const agentSession = textIn(params, 'sessionId')
    const facts = agentSession === this.#agentSession || agentSession === undefined ? {} : { agentSession }
    const permission = new Permission(envelope.id, context, params, facts)
    const { toolCall } = permission.pending
    turn?.tool(toolCall)
    if (textIn(toolCall, 'kind') === 'switch_mode' && this.#rules.default === 'ask') {
      const question = planApproval(envelope.id, context, permission.pending)
      this.#questions.set(key, question)
      return question
    }
    this.#permissions.set(key, permission)
    return permission
  }

  /** What an answer means, in either direction. */
  answered(
    request: OpenRequest<AgentSession>,
    envelope: Envelope & { kind: 'response' },
    direction: Direction,
  ): Meaning {
    const turn = this.#turn
    const current = turn !== undefined && !turn.answered ? turn : undefined
    const context = current?.context ?? { session: this.id }
    if (direction === 'out') {
      if (request.method === 'session/prompt') current?.setAnswered()
      return { context }
    }
    const key = idKey(envelope.id)
    const waiting = this.#permissions.get(key) ?? this.#questions.get(key)
    if (waiting === undefined) return { context }
    this.#permissions.delete(key)
    this.#questions.delete(key)
    const result = 'result' in envelope.message ? envelope.message.result : undefined
    return { context, events: [waiting.resolved(result)], committed: () => waiting.setRecorded() }
  }

  /** Decided by a rule, by somebody, or by the clock. */
  permissionAnswer(key: string): Promise<JsonObject> {
    const permission = this.#permissions.get(key)
    if (permission === undefined) return this.questionAnswer(key)
    const rule = ruleFor(this.#rules, textIn(permission.pending.toolCall, 'kind') ?? 'other')
    if (rule !== 'ask') {
      try {
        permission.respond(rule, 'rule')
      } catch {
        // What the rule grants is not offered in that form; the nearest that is, or nothing.
        const [allow] = permission.pending.options.filter(({ kind }) => kind.startsWith('allow'))
        permission.respond(allow === undefined ? 'cancelled' : { option: allow.id }, 'rule')
      }
      return permission.answer
    }
    return this.#untilTimeout(permission.answer, () => {
      permission.respond(this.#rules.onTimeout, 'time limit', 'timeout')
    })
  }

  questionAnswer(key: string): Promise<JsonObject> {
    const question = this.#questions.get(key)
    if (question === undefined) return Promise.resolve({ action: 'cancel' })
    return this.#untilTimeout(question.answer, () => question.cancel('time limit', 'timeout'))
  }

  #untilTimeout(answer: Promise<JsonObject>, late: () => void): Promise<JsonObject> {
    const timer = setTimeout(late, this.#rules.timeoutMs)
    timer.unref()
    return answer.finally(() => clearTimeout(timer))
  }
}

interface Ending extends Omit<PromptResult, 'turn'> {}

interface Failure {
  readonly outcome: Outcome
  readonly error: VitrineError
}

function foreign(context: EventContext, params: unknown): Meaning {
  const event = objectIn(params, 'event') ?? {}
  return { instead: [{ ...context, type: 'foreign.event', data: { type: 'unknown', ...event } }] }
}

function failureFacts(error: VitrineError, outcome: Outcome): JsonObject {
  if (outcome !== 'failed') return {}
  const { code, message, retryable } = isVitrineError(error) ? error : toVitrineError(error)
  return { errorType: 'VitrineError', errorCode: code, errorMessage: message, retryable }
}

function counts(usage: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(usage).filter(
      ([, value]) => typeof value === 'number' && Number.isInteger(value) && value >= 0,
    ),
  )
}
