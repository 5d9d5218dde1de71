import type { Journal } from '@vitrine/journal'
import {
  type ConfigOption,
  type ContentBlock,
  type EventContext,
  type HostCallContext,
  type JournalEvent,
  type JournalItem,
  type MatchedEvent,
  type MatchedItem,
  newId,
  type OpenSessionOptions,
  type PendingPermission,
  type PendingQuestion,
  type PermissionAnswer,
  type PromptOptions,
  type PromptResult,
  type QuestionAnswer,
  type Session,
  type SessionEventsOptions,
  type SessionInfo,
  type SessionListenerOptions,
  type SessionStreamOptions,
  type StreamPiece,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, sessionOptions } from '@vitrine/protocol/options'
import { PullIterator, promptBlocks } from '@vitrine/protocol/primitives'
import type { SandboxEngine } from '@vitrine/sandbox'
import type { Transcript } from '@vitrine/views'
import type { Direction, Interpretation } from '../bridge/bridge.ts'
import type { RpcEnvelope } from '../bridge/rpc-envelope.ts'
import type { AgentExit } from '../bridge/transport.ts'
import type { ActiveTurn } from './active-turn.ts'
import type { AgentInstance } from './agent-instance.ts'
import { AttachedAgent } from './attached-agent.ts'
import { attributionOf } from './attribution.ts'
import { ClientTerminals } from './client-terminals.ts'
import { closeSession } from './close-session.ts'
import { withoutUndefined } from './fields.ts'
import { MessageInterpreter } from './interpret-message.ts'
import { defaultQueue } from './limits.ts'
import { PendingRequests } from './pending-requests.ts'
import { completeRules } from './permissions.ts'
import type { JoinedTurn } from './prompted-turn.ts'
import { ReportedUsage } from './reported-usage.ts'
import type { OpenRequest } from './requests.ts'
import type { KnownSession, Restored, SessionHost } from './session-host.ts'
import { SessionOptions } from './session-options.ts'
import { SessionStream } from './session-stream.ts'
import type { TurnCaller } from './turn-context.ts'
import { TurnPieceSource } from './turn-piece-source.ts'
import { SessionTurns, type TurnHost } from './turns.ts'

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
  readonly sandbox: SandboxEngine
  readonly answers: PendingRequests
  readonly terminals = new ClientTerminals()
  readonly reported = new ReportedUsage()
  readonly #host: SessionHost
  readonly #turns: SessionTurns
  readonly #agent = new AttachedAgent({
    restore: () => this.#restore(),
    recordExit: (instance, exit) => this.#recordAgentExit(instance, exit),
    closedError: () => this.closedError(),
  })
  readonly #options = new SessionOptions(this)
  readonly #interpreter: MessageInterpreter
  readonly #opener: TurnCaller
  readonly #close = new AbortController()

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
    this.#interpreter = new MessageInterpreter(this, this.#options.chosen, known.title)
    this.#host = host
    this.#turns = new SessionTurns(this, {
      queue: options.queue ?? defaultQueue,
      count: known.turns,
      last: known.lastTurn,
    })
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
      options: this.#options.chosen.recorded,
      ...(title !== undefined && { title }),
      ...(this.#turns.last !== undefined && { lastTurn: this.#turns.last }),
      ...(this.instance !== undefined && { agentSession: this.agentSession }),
    }
  }

  get instance(): AgentInstance | undefined {
    return this.#agent.instance
  }

  get agentSession(): string {
    return this.#agent.agentSession
  }

  get hasAgent(): boolean {
    return this.#agent.isRunning
  }

  /** Aborts when its close begins. */
  get closeSignal(): AbortSignal {
    return this.#close.signal
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
    return this.#agent.closing
  }

  /** Attaches the agent that was started or restored for this session. */
  attach(restored: Restored): void {
    const { instance, answer, agentSession, conversation } = restored
    this.#options.chosen.read(answer)
    this.reported.startConversation(conversation)
    this.#agent.attach(restored)
    instance.sessions.set(agentSession, this)
    // The agent may have exited before the session was registered with it.
    const { exit } = instance.bridge
    if (exit !== undefined) void this.onAgentExit(instance, exit).catch(() => undefined)
  }

  /** The sandbox, with the session, the turn and the agent as context of its events. */
  sandboxForAgent(): SandboxEngine {
    return this.sandbox.as(this.callContext)
  }

  async prompt(
    content: string | readonly ContentBlock[],
    options: PromptOptions = {},
  ): Promise<PromptResult> {
    checkOptions('prompt', sessionOptions.prompt, options)
    const { turn = newId('turn'), ...rest } = options
    return (await this.#begin(content, turn, rest)).result
  }

  stream(
    content: string | readonly ContentBlock[],
    options: SessionStreamOptions = {},
  ): AsyncIterableIterator<StreamPiece> {
    checkOptions('stream', sessionOptions.stream, options)
    const { turn = newId('turn'), after, ...rest } = options
    const pieces = new TurnPieceSource(this.#host.journal, { session: this.id, turn, after })
    return new PullIterator(new SessionStream(this.#begin(content, turn, rest), pieces))
  }

  #begin(
    content: string | readonly ContentBlock[],
    turn: string,
    { signal, ...given }: PromptOptions,
  ): Promise<JoinedTurn> {
    const caller = { ...this.#opener, ...withoutUndefined(given) }
    const { turns } = this.#host
    return turns.arrive(async () => {
      const loading = turns.load(turn)
      if (loading !== undefined) await loading
      return this.begin(content, { turn, signal, caller })
    })
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

  onEvent<const Pattern extends string = string>(
    listener: (event: MatchedEvent<Pattern>) => void,
    options?: SessionListenerOptions<Pattern>,
  ): () => void
  onEvent(listener: (event: JournalEvent) => void, options: SessionListenerOptions = {}): () => void {
    checkOptions('session.onEvent', sessionOptions.onEvent, options)
    const tap = (event: JournalEvent) => (event.session === this.id ? listener(event) : undefined)
    return this.#host.journal.tap(tap, { ...options, name: 'session.onEvent' })
  }

  events<const Pattern extends string = string>(
    options?: SessionEventsOptions<Pattern>,
  ): AsyncIterableIterator<MatchedItem<Pattern>>
  events(options: SessionEventsOptions = {}): AsyncIterableIterator<JournalItem> {
    checkOptions('session.events', sessionOptions.events, options)
    return this.#host.journal.tail({ ...options, session: this.id })
  }

  transcript(): Promise<Transcript> {
    return this.#host.transcript(this)
  }

  /** The context of a call is recorded with the change. */
  setMode(mode: string, context: HostCallContext = {}): Promise<void> {
    return this.#options.choose({ category: 'mode' }, mode, { context })
  }

  setModel(model: string, context: HostCallContext = {}): Promise<void> {
    return this.#options.choose({ category: 'model' }, model, { context })
  }

  setThoughtLevel(level: string, context: HostCallContext = {}): Promise<void> {
    return this.#options.choose({ category: 'thought_level' }, level, { context })
  }

  setConfigOption(id: string, value: string | boolean, context: HostCallContext = {}): Promise<void> {
    return this.#options.choose({ id }, value, { context })
  }

  /** Sets the model, thought level and mode that the session was opened with; `mode` if it was opened with none. */
  applyInitialOptions(mode: string | undefined, signal: AbortSignal): Promise<void> {
    const { model, thoughtLevel, mode: wanted = mode } = this.options
    return this.#options.applyInitial(withoutUndefined({ model, thoughtLevel, mode: wanted }), signal)
  }

  /** Sets earlier values again at a restored agent. */
  reapplyOptions(
    before: readonly Pick<ConfigOption, 'id' | 'current'>[],
    signal: AbortSignal,
  ): Promise<void> {
    return this.#options.reapply(before, signal)
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
    const parts = {
      session: this,
      turns: this.#turns,
      agent: this.#agent,
      release: () => this.#host.release(this),
    }
    return this.#agent.close(
      async () => {
        this.#close.abort()
        await closeSession(parts, reason, attributionOf(context))
      },
      () => this.#host.onClosed(this),
    )
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
    return this.#agent.onExit(instance, exit)
  }

  async #recordAgentExit(instance: AgentInstance, { exitCode, signal, stderr }: AgentExit): Promise<boolean> {
    // `turn.finished` comes before `session.closed`.
    await this.#turns.finished
    await this.terminals.close()
    // The close of the session records its end.
    if (this.closing) return false
    const endedBy = instance.endedByHost ? 'host' : 'agent'
    const { code: errorCode, message: errorMessage } = instance.bridge.exitError()
    const facts = { reason: 'agent_exited', endedBy, errorCode, errorMessage, exitCode, signal, stderr }
    await this.journal.append([...this.answers.orphaned(), { type: 'session.closed', data: facts }])
    return true
  }

  ensureAgent(): Promise<AgentInstance> {
    return this.#agent.ensure()
  }

  async #restore(): Promise<AgentInstance> {
    const { recorded } = this.#options.chosen
    const restored = await this.#host.restore(this, this.closeSignal)
    this.attach(restored)
    await this.reapplyOptions(recorded, this.closeSignal)
    return restored.instance
  }

  takeRecap(): string | undefined {
    return this.#agent.takeRecap()
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
  const result = Promise.resolve<PromptResult>({ turn, outcome: 'cancelled' })
  return { turn, accepted: Promise.resolve(), result, unrecorded: true }
}
