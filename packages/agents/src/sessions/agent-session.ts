import type { Journal } from '@vitrine/journal'
import {
  type ConfigOption,
  type ContentBlock,
  type EventContext,
  type HostCallContext,
  type JournalEvent,
  type JournalItem,
  type JsonObject,
  newId,
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
import { settledWithin } from '@vitrine/protocol/primitives'
import type { LocalSandbox } from '@vitrine/sandbox'
import type { Transcript } from '@vitrine/views'
import type { Direction, Interpretation } from '../bridge/bridge.ts'
import type { RpcEnvelope } from '../bridge/rpc-envelope.ts'
import type { AgentExit } from '../bridge/transport.ts'
import type { ActiveTurn } from './active-turn.ts'
import type { AgentInstance } from './agent-instance.ts'
import { attributionOf } from './attribution.ts'
import { ChosenOptions } from './chosen-options.ts'
import { ClientTerminals } from './client-terminals.ts'
import { withoutUndefined } from './fields.ts'
import { MessageInterpreter, sessionUpdated } from './interpret-message.ts'
import type { KnownTurns } from './known-turns.ts'
import { closeMs, defaultQueue } from './limits.ts'
import { PendingRequests } from './pending-requests.ts'
import { completeRules } from './permissions.ts'
import { promptBlocks } from './prompt-content.ts'
import type { JoinedTurn } from './prompted-turn.ts'
import type { OpenRequest } from './requests.ts'
import { type AgentSessionState, nextSessionState, type SessionInput } from './session-state.ts'
import type { TurnCaller } from './turn-context.ts'
import { SessionTurns, type TurnHost } from './turns.ts'

/** The parts of its sandbox that a session uses. */
export interface SessionHost {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  readonly turns: KnownTurns
  /** Starts an agent for a session whose own has exited, and restores the conversation. */
  restore(session: AgentSession, signal: AbortSignal): Promise<Restored>
  /** Releases the agent and the tools of a session that is closing. */
  release(session: AgentSession): Promise<void>
  /** Called once `session.closed` is appended. */
  onClosed(session: AgentSession): void
  fork(session: AgentSession, id: string | undefined, context?: HostCallContext): Promise<AgentSession>
  transcript(session: AgentSession): Promise<Transcript>
}

export interface Restored {
  readonly instance: AgentInstance
  readonly answer: JsonObject
  readonly agentSession: string
  /** Summary of the earlier conversation, for an agent that could not restore it itself. */
  readonly recap?: string
}

export interface KnownSession {
  readonly cwd: string
  readonly createdAt: string
  readonly turns: number
  readonly title?: string
}

interface AttachedAgent {
  readonly instance: AgentInstance
  /** The agent's own id for the session. */
  readonly agentSession: string
  /** Sent before the next prompt, once. */
  recap: string | undefined
}

export interface BeginPromptOptions {
  readonly turn: string
  readonly caller: TurnCaller
  readonly signal?: AbortSignal | undefined
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
  readonly #host: SessionHost
  readonly #turns: SessionTurns
  readonly #options = new ChosenOptions()
  readonly #interpreter: MessageInterpreter
  readonly #opener: TurnCaller
  readonly #closeSignal = new AbortController()
  #state: AgentSessionState<AttachedAgent, AgentInstance> = { phase: 'new' }

  constructor(
    host: SessionHost,
    options: OpenSessionOptions & { readonly id: string; readonly context?: HostCallContext },
    known: KnownSession,
  ) {
    this.id = options.id
    this.agent = options.agent
    this.options = options
    this.cwd = known.cwd
    this.createdAt = known.createdAt
    const { session: _session, turn: _turn, ...opener } = options.context ?? {}
    this.#opener = opener
    this.journal = host.journal.as({ ...options.context, source: 'host', session: this.id })
    this.sandbox = host.sandbox
    this.answers = new PendingRequests(completeRules(options.permissions))
    this.#interpreter = new MessageInterpreter(this, this.#options, known.title)
    this.#host = host
    this.#turns = new SessionTurns(this, { queue: options.queue ?? defaultQueue, count: known.turns })
  }

  get info(): SessionInfo {
    const { title } = this.#interpreter
    return {
      id: this.id,
      agent: this.agent,
      state: this.closing ? 'closed' : 'open',
      createdAt: this.createdAt,
      cwd: this.cwd,
      turns: this.#turns.count,
      busy: this.#turns.busy,
      options: this.#options.recorded,
      ...(title !== undefined && { title }),
      ...(this.#agent !== undefined && { agentSession: this.agentSession }),
    }
  }

  get #agent(): AttachedAgent | undefined {
    return this.#state.phase === 'new' ? undefined : this.#state.agent
  }

  get instance(): AgentInstance | undefined {
    return this.#agent?.instance
  }

  get agentSession(): string {
    return this.#agent?.agentSession ?? ''
  }

  get hasAgent(): boolean {
    return this.#state.phase === 'open' && this.#state.agent.instance.alive
  }

  get limits() {
    return this.options.limits ?? {}
  }

  /** Session and turn of events that happen now. */
  get context(): EventContext {
    return this.#turns.context
  }

  /** The context of calls that the agent makes now. Outside of a turn that somebody asked for, the agent is the actor. */
  get callContext(): HostCallContext {
    return { actor: this.agent, ...this.#turns.callContext }
  }

  get turn(): ActiveTurn | undefined {
    return this.#turns.current
  }

  /** Whether its close has begun. */
  get closing(): boolean {
    return this.#state.phase === 'closing' || this.#state.phase === 'closed'
  }

  #apply(input: SessionInput<AttachedAgent, AgentInstance>): void {
    this.#state = nextSessionState(this.#state, input)
  }

  /** Attaches the agent that was started or restored for this session. */
  attach({ instance, answer, agentSession, recap }: Restored): void {
    this.#options.read(answer)
    this.#apply({ type: 'attached', agent: { instance, agentSession, recap } })
    instance.sessions.set(agentSession, this)
    // The agent may have exited before the session was registered with it.
    const { exit } = instance.bridge
    if (exit !== undefined) void this.onAgentExit(instance, exit).catch(() => undefined)
  }

  /** The sandbox, with the session, the turn and the agent as context of its events. */
  sandboxForAgent(): LocalSandbox {
    return this.sandbox.as(this.callContext)
  }

  async prompt(
    content: string | readonly ContentBlock[],
    options: PromptOptions = {},
  ): Promise<PromptResult> {
    checkOptions('prompt', sessionOptions.prompt, options)
    const { turn = newId('turn'), signal, ...given } = options
    const caller = { ...this.#opener, ...withoutUndefined(given) }
    const loading = this.#host.turns.load(turn)
    if (loading !== undefined) await loading
    return this.begin(content, { turn, signal, caller }).result
  }

  /** Runs or queues a prompt, or joins the turn that its id already is. The turn must be loaded. */
  begin(content: string | readonly ContentBlock[], { turn, caller, signal }: BeginPromptOptions): JoinedTurn {
    const blocks = promptBlocks(content)
    const { turns: known, journal } = this.#host
    const promptHash = known.hash(turn, blocks)
    const joined = known.join(this.id, turn, promptHash)
    if (joined === undefined) this.assertOpen()
    if (joined === undefined && signal?.aborted) return cancelledTurn(turn)
    const given = { session: this.id, turn, blocks, promptHash: promptHash.recorded, caller, journal }
    const prompted = joined ?? known.add(this.#turns.add(given))
    if (signal !== undefined) this.#cancelOnAbort(prompted, signal)
    return prompted
  }

  #cancelOnAbort({ turn, result }: JoinedTurn, signal: AbortSignal): void {
    const cancel = () => this.cancelTurn(turn)
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    const release = () => signal.removeEventListener('abort', cancel)
    result.then(release, release)
  }

  /** Cancels one prompt, whether it waits or runs. */
  cancelTurn(turn: string): void {
    this.#turns.cancelOne(turn)
  }

  cancel(): Promise<void> {
    return this.#turns.cancel('cancelled')
  }

  onEvent(listener: (event: JournalEvent) => void): () => void {
    const tap = (event: JournalEvent) => (event.session === this.id ? listener(event) : undefined)
    return this.#host.journal.tap(tap, { name: 'session.onEvent' })
  }

  events(
    options: { readonly after?: string; readonly signal?: AbortSignal } = {},
  ): AsyncIterableIterator<JournalItem> {
    checkOptions('session.events', sessionOptions.events, options)
    return this.#host.journal.tail({ ...options, session: this.id })
  }

  transcript(): Promise<Transcript> {
    return this.#host.transcript(this)
  }

  /** The context of a call is recorded with the change. */
  setMode(mode: string, context: HostCallContext = {}): Promise<void> {
    return this.#choose({ category: 'mode' }, mode, { context })
  }

  setModel(model: string, context: HostCallContext = {}): Promise<void> {
    return this.#choose({ category: 'model' }, model, { context })
  }

  setThoughtLevel(level: string, context: HostCallContext = {}): Promise<void> {
    return this.#choose({ category: 'thought_level' }, level, { context })
  }

  setConfigOption(id: string, value: string | boolean, context: HostCallContext = {}): Promise<void> {
    return this.#choose({ id }, value, { context })
  }

  /** Sets the model, thought level and mode that the session was opened with. */
  async applyInitialOptions(mode: string | undefined, signal: AbortSignal): Promise<void> {
    const { model, thoughtLevel, mode: wanted = mode } = this.options
    if (model !== undefined) await this.#choose({ category: 'model' }, model, { signal })
    if (thoughtLevel !== undefined)
      await this.#choose({ category: 'thought_level' }, thoughtLevel, { signal })
    if (wanted !== undefined) await this.#choose({ category: 'mode' }, wanted, { signal })
  }

  /** Sets earlier values again at a restored agent; a failure is only logged. */
  async reapplyOptions(
    before: readonly Pick<ConfigOption, 'id' | 'current'>[],
    signal: AbortSignal,
  ): Promise<void> {
    const { instance } = this
    if (instance === undefined) return
    try {
      await this.#options.reapplyOptions(instance, this.agentSession, before, signal)
    } catch (error) {
      if (signal.aborted) throw error
      const message = `Some options could not be set again: ${toVitrineError(error).message}`
      await this.journal.append([{ type: 'log.message', data: { level: 'warn', message } }])
    }
    this.#options.setRecorded(this.#options.latest)
  }

  async #choose(
    wanted: { category?: string; id?: string },
    value: string | boolean,
    { signal: openSignal, context = {} }: { signal?: AbortSignal; context?: HostCallContext },
  ): Promise<void> {
    this.assertOpen()
    const instance = await this.ensureAgent()
    const signal = AbortSignal.any([this.#closeSignal.signal, ...(openSignal ? [openSignal] : [])])
    await this.#options.choose(instance, this.agentSession, wanted, value, signal)
    const { latest } = this.#options
    await this.journal.append([
      { ...sessionUpdated(this.id, { options: latest }), ...attributionOf(context) },
    ])
    this.#options.setRecorded(latest)
  }

  get permissions(): readonly PendingPermission[] {
    return this.answers.permissions
  }

  /** `by` names the person or program that responded; it and the context of the call are recorded. */
  respondPermission(
    id: string,
    answer: PermissionAnswer,
    by = 'code',
    context: HostCallContext = {},
  ): Promise<void> {
    return this.answers.respondPermission(id, answer, { by, context: attributionOf(context) })
  }

  get questions(): readonly PendingQuestion[] {
    return this.answers.questions
  }

  respondQuestion(
    id: string,
    answer: QuestionAnswer,
    by = 'code',
    context: HostCallContext = {},
  ): Promise<void> {
    return this.answers.respondQuestion(id, answer, { by, context: attributionOf(context) })
  }

  close(reason = 'closed', context: HostCallContext = {}): Promise<void> {
    if (this.#state.phase === 'closing' || this.#state.phase === 'closed') return this.#state.closed
    const closed = Promise.withResolvers<void>()
    this.#apply({ type: 'close', closed: closed.promise })
    this.#close(reason, attributionOf(context))
      .finally(() => {
        this.#apply({ type: 'closed' })
        this.#host.onClosed(this)
      })
      .then(closed.resolve, closed.reject)
    return closed.promise
  }

  async #close(reason: string, by: EventContext): Promise<void> {
    this.#closeSignal.abort()
    const cancelled = this.#turns.cancel('closed')
    const turnEnded = await settledWithin(cancelled, closeMs, { ref: true })
    await settledWithin(this.#restoring, closeMs, { ref: true })
    // Cancel the permissions and questions that were requested outside of a turn.
    await settledWithin(this.answers.cancelAll('close'), closeMs, { ref: true })
    const { instance } = this
    if (instance?.alive && instance.sessions.all.some((other) => other !== this))
      await this.#detach(instance, turnEnded)
    await this.#host.release(this)
    await this.#turns.ended
    await this.terminals.close()
    await this.#exit?.recording
    const orphaned = this.answers.orphaned()
    const closed = this.#exit?.isRecorded
      ? []
      : [{ ...by, type: 'session.closed', data: { reason, endedBy: 'host' } }]
    if (orphaned.length + closed.length > 0) await this.journal.append([...orphaned, ...closed])
  }

  /** The restore that is under way. */
  get #restoring(): Promise<AgentInstance> | undefined {
    return 'restored' in this.#state ? this.#state.restored : undefined
  }

  /** The exit of the attached agent. */
  get #exit() {
    return 'exit' in this.#state ? this.#state.exit : undefined
  }

  /** Closes the session at an agent that others share; stops the agent if it can neither close a session nor end the turn. */
  async #detach(instance: AgentInstance, turnEnded: boolean): Promise<void> {
    if (instance.can('close')) {
      const closing = instance.request(
        'session/close',
        { sessionId: this.agentSession },
        { timeoutMs: closeMs },
      )
      await closing.catch(() => undefined)
      this.#turns.abandon()
    } else if (!turnEnded) {
      const data = { limit: 'session.closeMs', max: closeMs, instance: instance.id }
      await this.journal.append([{ type: 'limit.reached', data }])
      await instance.end(0)
    }
  }

  async fork(
    options: { readonly id?: string; readonly context?: HostCallContext } = {},
  ): Promise<AgentSession> {
    checkOptions('fork', sessionOptions.fork, options)
    this.assertOpen()
    await this.ensureAgent()
    return this.#host.fork(this, options.id, options.context)
  }

  /** Called when the agent has exited, by itself or ended by the host. */
  onAgentExit(instance: AgentInstance, exit: AgentExit): Promise<void> {
    if (this.instance !== instance) return Promise.resolve()
    const recording = this.#recordAgentExit(instance, exit)
    this.#apply({ type: 'exited', instance, recording })
    return recording
  }

  async #recordAgentExit(instance: AgentInstance, { exitCode, signal, stderr }: AgentExit): Promise<void> {
    // `turn.finished` comes before `session.closed`.
    await this.#turns.finished
    await this.terminals.close()
    // The close of the session records its end.
    if (this.closing) return
    const endedBy = instance.endedByHost ? 'host' : 'agent'
    const { code: errorCode, message: errorMessage } = instance.bridge.exitError()
    const facts = { reason: 'agent_exited', endedBy, errorCode, errorMessage, exitCode, signal, stderr }
    await this.journal.append([...this.answers.orphaned(), { type: 'session.closed', data: facts }])
    this.#apply({ type: 'exitRecorded', instance })
  }

  ensureAgent(): Promise<AgentInstance> {
    if (this.hasAgent && this.instance !== undefined) return Promise.resolve(this.instance)
    const { phase } = this.#state
    if (phase === 'restoring') return this.#state.restored
    if (phase !== 'open' && phase !== 'lost') return Promise.reject(this.closedError())
    const restored = this.#restore(this.#state.agent.instance)
    this.#apply({ type: 'restore', restored })
    return restored
  }

  async #restore(before: AgentInstance): Promise<AgentInstance> {
    try {
      await before.bridge.closed
      await this.#exit?.recording
      const chosen = this.#options.recorded
      const restored = await this.#host.restore(this, this.#closeSignal.signal)
      this.attach(restored)
      await this.reapplyOptions(chosen, this.#closeSignal.signal)
      return restored.instance
    } finally {
      this.#apply({ type: 'restoreEnded' })
    }
  }

  takeRecap(): string | undefined {
    const agent = this.#agent
    const recap = agent?.recap
    if (agent !== undefined) agent.recap = undefined
    return recap
  }

  assertOpen(): void {
    if (this.closing) throw this.closedError()
  }

  closedError(): VitrineError {
    return new VitrineError('session_closed', `The session ${this.id} with ${this.agent} is closed.`, {
      details: { session: this.id, agent: this.agent },
    })
  }

  /** Interprets a request or a notification of this session. */
  interpret(
    envelope: Exclude<RpcEnvelope, { kind: 'response' }>,
    direction: Direction,
    params: unknown,
    history: 'live' | 'replay',
  ): Interpretation {
    return this.#interpreter.interpret(envelope, direction, params, history)
  }

  /** Interprets a response, in either direction. */
  interpretResponse(
    { method }: OpenRequest<AgentSession>,
    envelope: RpcEnvelope & { kind: 'response' },
    direction: Direction,
  ): Interpretation {
    return this.#interpreter.interpretResponse(method, envelope, direction)
  }
}

/** The result of a prompt whose signal was aborted before it was sent. Nothing is recorded. */
function cancelledTurn(turn: string): JoinedTurn {
  return { turn, accepted: Promise.resolve(), result: Promise.resolve({ turn, outcome: 'cancelled' }) }
}
