import type { Journal } from '@vitrine/journal'
import {
  type CallContext,
  type ConfigOption,
  type ContentBlock,
  type EventContext,
  type JournalEvent,
  type JournalItem,
  type JsonObject,
  type OpenSessionOptions,
  type PendingPermission,
  type PendingQuestion,
  type PermissionAnswer,
  type PromptOptions,
  type PromptResult,
  type QuestionAnswer,
  type Session,
  type SessionInfo,
  toVitrineError,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, sessionOptions } from '@vitrine/protocol/options'
import type { LocalSandbox } from '@vitrine/sandbox'
import type { Transcript } from '@vitrine/views'
import type { Direction, Interpretation } from '../bridge/bridge.ts'
import type { Envelope } from '../bridge/envelope.ts'
import type { AgentExit } from '../bridge/transport.ts'
import type { ActiveTurn } from './active-turn.ts'
import type { AgentInstance } from './agent-instance.ts'
import { ChosenOptions } from './chosen-options.ts'
import { ClientTerminals } from './client-terminals.ts'
import { MessageMeaning, updated } from './interpret-message.ts'
import { closeMs, defaultQueue, endsWithin } from './limits.ts'
import { PendingRequests } from './pending-requests.ts'
import { settleRules } from './permissions.ts'
import type { OpenRequest } from './requests.ts'
import { type TurnHost, Turns } from './turns.ts'

/** What a session needs of where it lives. */
export interface SessionHost {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  /** Brings an agent for a session that lost its own: restored, with what it must be told first. */
  restore(session: AgentSession, signal: AbortSignal): Promise<Restored>
  /** Called once a session needs its agent no more. */
  closed(session: AgentSession): Promise<void>
  /** Called once its end is on record. */
  ended(session: AgentSession): void
  fork(session: AgentSession, id: string | undefined): Promise<AgentSession>
  transcript(session: AgentSession): Promise<Transcript>
}

export interface Restored {
  readonly instance: AgentInstance
  readonly answer: JsonObject
  readonly agentSession: string
  /** What was said before, for an agent that remembers nothing. */
  readonly recap?: string
}

export interface KnownSession {
  readonly cwd: string
  readonly createdAt: string
  readonly turns: number
  readonly title?: string
}

/** One conversation with an agent. */
export class AgentSession implements Session, TurnHost {
  readonly id: string
  readonly agent: string
  readonly options: OpenSessionOptions
  readonly cwd: string
  createdAt: string
  readonly journal: Journal
  readonly sandbox: LocalSandbox
  readonly answers: PendingRequests
  readonly terminals = new ClientTerminals()
  readonly #home: SessionHost
  readonly #turns: Turns
  readonly #options = new ChosenOptions()
  readonly #meanings: MessageMeaning
  #instance: AgentInstance | undefined
  #agentSession = ''
  /** `lost`: its agent has ended, and the next prompt brings it back. */
  #state: 'open' | 'lost' | 'closed' = 'lost'
  #told: string | undefined
  #closing: Promise<void> | undefined
  /** Its end is on record, and nothing has brought it back since. */
  #isRecordedClosed = false
  /** Its agent has ended, and that is being put on record. */
  #losing: Promise<void> = Promise.resolve()
  #restoring: Promise<AgentInstance> | undefined
  readonly #closed = new AbortController()

  constructor(
    home: SessionHost,
    options: OpenSessionOptions & { readonly id: string; readonly context?: CallContext },
    known: KnownSession,
  ) {
    this.id = options.id
    this.agent = options.agent
    this.options = options
    this.cwd = known.cwd
    this.createdAt = known.createdAt
    this.journal = home.journal.as({ ...options.context, source: 'host', session: this.id })
    this.sandbox = home.sandbox
    this.answers = new PendingRequests(settleRules(options.permissions))
    this.#meanings = new MessageMeaning(this, this.#options, known.title)
    this.#home = home
    this.#turns = new Turns(this, { queue: options.queue ?? defaultQueue, count: known.turns })
  }

  get info(): SessionInfo {
    const { title } = this.#meanings
    return {
      id: this.id,
      agent: this.agent,
      state: this.#state === 'closed' ? 'closed' : 'open',
      createdAt: this.createdAt,
      cwd: this.cwd,
      turns: this.#turns.count,
      busy: this.#turns.busy,
      options: this.#options.shown,
      ...(title !== undefined && { title }),
      ...(this.#agentSession !== '' && { agentSession: this.#agentSession }),
    }
  }

  get instance(): AgentInstance | undefined {
    return this.#instance
  }

  get agentSession(): string {
    return this.#agentSession
  }

  get limits() {
    return this.options.limits ?? {}
  }

  /** Whom something belongs to that happens now. */
  get context(): EventContext {
    return this.#turns.context
  }

  get turn(): ActiveTurn | undefined {
    return this.#turns.current
  }

  /** Whether its close has begun. */
  get closing(): boolean {
    return this.#closing !== undefined
  }

  /** It has an agent now. */
  begin({ instance, answer, agentSession, recap: told }: Restored): void {
    this.#instance = instance
    this.#agentSession = agentSession
    this.#options.read(answer)
    this.#told = told
    this.#isRecordedClosed = false
    if (this.#state === 'lost') this.#state = 'open'
    instance.sessions.set(agentSession, this)
    // It may have ended in this very moment.
    const { exit } = instance.bridge
    if (exit !== undefined) void this.agentGone(instance, exit).catch(() => undefined)
  }

  /** The same sandbox; what the agent does through us belongs to its session and its turn. */
  acting(): LocalSandbox {
    return this.sandbox.as({ ...this.context, actor: this.agent })
  }

  async prompt(
    content: string | readonly ContentBlock[],
    options: PromptOptions = {},
  ): Promise<PromptResult> {
    checkOptions('prompt', sessionOptions.prompt, options)
    this.mustBeOpen()
    return this.#turns.prompt(content, options)
  }

  cancel(): Promise<void> {
    return this.#turns.cancel((turn) => ({ turn, outcome: 'cancelled' }))
  }

  onEvent(listener: (event: JournalEvent) => void): () => void {
    return this.#home.journal.tap((event) => {
      if (event.session === this.id) listener(event)
    })
  }

  events(
    options: { readonly after?: string; readonly signal?: AbortSignal } = {},
  ): AsyncIterableIterator<JournalItem> {
    checkOptions('session.events', sessionOptions.events, options)
    return this.#home.journal.tail({ ...options, session: this.id })
  }

  transcript(): Promise<Transcript> {
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
  async applyInitialOptions(mode: string | undefined, signal: AbortSignal): Promise<void> {
    const { model, thoughtLevel, mode: wanted = mode } = this.options
    if (model !== undefined) await this.#choose({ category: 'model' }, model, signal)
    if (thoughtLevel !== undefined) await this.#choose({ category: 'thought_level' }, thoughtLevel, signal)
    if (wanted !== undefined) await this.#choose({ category: 'mode' }, wanted, signal)
  }

  /** What was chosen before, for an agent that came back without it. */
  async reapplyOptions(
    before: readonly Pick<ConfigOption, 'id' | 'current'>[],
    signal: AbortSignal,
  ): Promise<void> {
    const instance = this.#instance
    if (instance === undefined) return
    try {
      await this.#options.reapplyOptions(instance, this.#agentSession, before, signal)
    } catch (error) {
      if (signal.aborted) throw error
      const message = `Not everything could be chosen again: ${toVitrineError(error).message}`
      await this.journal.append([{ type: 'log.message', data: { level: 'warn', message } }])
    }
    this.#options.show(this.#options.latest)
  }

  async #choose(
    wanted: { category?: string; id?: string },
    value: string | boolean,
    opening?: AbortSignal,
  ): Promise<void> {
    this.mustBeOpen()
    const instance = await this.ensureAgent()
    const signal = AbortSignal.any([this.#closed.signal, ...(opening ? [opening] : [])])
    await this.#options.choose(instance, this.#agentSession, wanted, value, signal)
    const { latest } = this.#options
    await this.journal.append([updated(this.id, { options: latest })])
    this.#options.show(latest)
  }

  get permissions(): readonly PendingPermission[] {
    return this.answers.permissions
  }

  /** `by` is who answered, for the record. */
  respondPermission(id: string, answer: PermissionAnswer, by = 'code'): Promise<void> {
    return this.answers.respondPermission(id, answer, by)
  }

  get questions(): readonly PendingQuestion[] {
    return this.answers.questions
  }

  respondQuestion(id: string, answer: QuestionAnswer, by = 'code'): Promise<void> {
    return this.answers.respondQuestion(id, answer, by)
  }

  close(reason = 'closed'): Promise<void> {
    this.#closing ??= this.#close(reason).finally(() => this.#home.ended(this))
    return this.#closing
  }

  async #close(reason: string): Promise<void> {
    this.#state = 'closed'
    this.#closed.abort()
    const cancelled = this.#turns.cancel(() => this.#closedError())
    const isOver = await endsWithin(cancelled, closeMs)
    await endsWithin(this.#restoring, closeMs)
    // What was asked outside of a turn ends too.
    await endsWithin(this.answers.cancelAll('close'), closeMs)
    const instance = this.#instance
    if (instance?.alive && instance.sessions.all.some((other) => other !== this))
      await this.#leave(instance, isOver)
    await this.#home.closed(this)
    await this.#turns.over
    await this.terminals.close()
    await this.#losing
    const orphaned = this.answers.orphaned()
    const closed = this.#isRecordedClosed
      ? []
      : [{ type: 'session.closed', data: { reason, endedBy: 'host' } }]
    if (orphaned.length + closed.length > 0) await this.journal.append([...orphaned, ...closed])
  }

  /** Goes from a process that other sessions have; one that neither heeds the cancel nor can close a session is ended. */
  async #leave(instance: AgentInstance, isOver: boolean): Promise<void> {
    if (instance.can('close')) {
      const asked = instance.request('session/close', { sessionId: this.#agentSession }, { ms: closeMs })
      await asked.catch(() => undefined)
      this.#turns.abandon()
    } else if (!isOver) {
      const data = { limit: 'session.closeMs', max: closeMs, instance: instance.id }
      await this.journal.append([{ type: 'limit.reached', data }])
      await instance.end(0)
    }
  }

  async fork(options: { readonly id?: string } = {}): Promise<AgentSession> {
    checkOptions('fork', sessionOptions.fork, options)
    this.mustBeOpen()
    await this.ensureAgent()
    return this.#home.fork(this, options.id)
  }

  /** Its agent has ended: by itself, or because it was ended. */
  agentGone(instance: AgentInstance, exit: AgentExit): Promise<void> {
    if (this.#instance !== instance) return Promise.resolve()
    if (this.#state === 'open') this.#state = 'lost'
    this.#losing = this.#recordAgentExit(instance, exit)
    return this.#losing
  }

  async #recordAgentExit(instance: AgentInstance, { exitCode, signal, stderr }: AgentExit): Promise<void> {
    // The turn that ran says first how it ended.
    await this.#turns.finished
    await this.terminals.close()
    if (this.#state !== 'lost') return
    const endedBy = instance.endedByHost ? 'host' : 'agent'
    const { code: errorCode, message: errorMessage } = instance.bridge.exitError()
    const facts = { reason: 'agent_exited', endedBy, errorCode, errorMessage, exitCode, signal, stderr }
    await this.journal.append([...this.answers.orphaned(), { type: 'session.closed', data: facts }])
    this.#isRecordedClosed = true
  }

  async ensureAgent(): Promise<AgentInstance> {
    const instance = this.#instance
    if (instance?.alive && this.#state === 'open') return instance
    this.#restoring ??= this.#restore(instance).finally(() => {
      this.#restoring = undefined
    })
    return this.#restoring
  }

  async #restore(before: AgentInstance | undefined): Promise<AgentInstance> {
    await before?.bridge.closed
    await this.#losing
    const chosen = this.#options.shown
    const restored = await this.#home.restore(this, this.#closed.signal)
    this.begin(restored)
    await this.reapplyOptions(chosen, this.#closed.signal)
    return restored.instance
  }

  takeRecap(): string | undefined {
    const told = this.#told
    this.#told = undefined
    return told
  }

  mustBeOpen(): void {
    if (this.#state === 'closed') throw this.#closedError()
  }

  #closedError(): VitrineError {
    return new VitrineError('session_closed', `The session ${this.id} with ${this.agent} is closed.`, {
      details: { session: this.id, agent: this.agent },
    })
  }

  /** What a message of this session means beyond itself. */
  interpret(
    envelope: Exclude<Envelope, { kind: 'response' }>,
    direction: Direction,
    params: unknown,
    replay: boolean,
  ): Interpretation {
    return this.#meanings.of(envelope, direction, params, replay)
  }

  /** What an answer means, in either direction. */
  answered(
    { method }: OpenRequest<AgentSession>,
    envelope: Envelope & { kind: 'response' },
    direction: Direction,
  ): Interpretation {
    return this.#meanings.ofAnswer(method, envelope, direction)
  }
}
