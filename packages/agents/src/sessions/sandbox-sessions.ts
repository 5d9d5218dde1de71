import { resolve } from 'node:path'
import type { Journal, Store } from '@vitrine/journal'
import {
  type ContentBlock,
  type HostCallContext,
  type JsonObject,
  newId,
  type OpenSessionOptions,
  type SessionInfo,
  type Sessions,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, sessionOptions } from '@vitrine/protocol/options'
import {
  promptBlocks,
  sessionIdPattern,
  settledWithin,
  shown,
  withinEventValues,
} from '@vitrine/protocol/primitives'
import type { SandboxEngine } from '@vitrine/sandbox'
import type { Transcript } from '@vitrine/views'
import type { ToolsOption } from '../tools/host-tool.ts'
import type { AgentInstance } from './agent-instance.ts'
import { AgentSession, type BeginPromptOptions } from './agent-session.ts'
import { assertOptionsExist, readOptions, shownOptions } from './config-options.ts'
import { KnownTurns } from './known-turns.ts'
import { cancelledError, endMs, withTimeLimit } from './limits.ts'
import {
  forkedConversation,
  newConversation,
  type OpenedConversation,
  restoredConversation,
} from './open-conversation.ts'
import { type JoinedTurn, PromptedTurn } from './prompted-turn.ts'
import { RunningAgents } from './running-agents.ts'
import type { Restored, SessionHost } from './session-host.ts'
import { closedInfo, readRecords, recordedOptions, type SessionRecord } from './session-records.ts'
import { SessionTools } from './session-tools.ts'
import { SessionTranscript } from './session-transcript.ts'
import type { AgentConfig } from './start/agent-config.ts'
import { type FoundAgent, findAgentFor, type SessionRequest } from './start-agent.ts'

export interface SandboxSessionsOptions {
  readonly sandbox: SandboxEngine
  readonly journal: Journal
  readonly store: Store
  readonly agents: AgentConfig
}

export type OpenOptions = OpenSessionOptions &
  ToolsOption & {
    /** Caller, actor and run that the events of the session carry. */
    readonly context?: HostCallContext
  }

/** The state of an open session. */
export type LiveSession = Pick<AgentSession, 'info' | 'permissions' | 'questions'>

/** The sessions of one sandbox: the open ones, and the closed ones that its journal records. */
export class SandboxSessions implements Sessions, SessionHost {
  readonly sandbox: SandboxEngine
  readonly journal: Journal
  readonly turns: KnownTurns
  readonly #store: Store
  readonly #agents: AgentConfig
  readonly #open = new Map<string, AgentSession>()
  /** Sessions that are being opened or restored. */
  readonly #opening = new Map<string, Promise<AgentSession>>()
  readonly #tools: SessionTools
  readonly #running: RunningAgents
  readonly #transcripts = new Map<string, SessionTranscript>()
  /** Aborted and replaced by `endAll`. */
  #ending = new AbortController()
  #interruptedClosed: Promise<void> | undefined

  constructor({ sandbox, journal, store, agents }: SandboxSessionsOptions) {
    this.sandbox = sandbox
    this.journal = journal.as({ source: 'host' })
    this.turns = new KnownTurns(this.journal, (text) => store.keyedHash(text))
    this.#store = store
    this.#agents = agents
    this.#tools = new SessionTools({ sandbox, journal: this.journal, store, node: agents.node })
    this.#running = new RunningAgents(this.journal)
  }

  async openSession(options: OpenOptions): Promise<AgentSession> {
    checkOptions('openSession', sessionOptions.open, options ?? {})
    const id = this.#idFor(options.id)
    return this.#openOnce(id, async () => {
      if (options.id !== undefined && (await this.#record(id)) !== undefined) throw exists(id)
      return this.#openWith(id, options, (session, found, signal) =>
        this.#create(session, found, options, signal),
      )
    })
  }

  /** Whether a session is being opened, or has a prompt that arrives, waits or runs. */
  get isBusy(): boolean {
    return (
      this.#opening.size > 0 ||
      this.turns.isArriving ||
      [...this.#open.values()].some(({ info }) => info.busy)
    )
  }

  async list(): Promise<readonly SessionInfo[]> {
    await this.closeInterrupted()
    const records = await readRecords(this.journal)
    return records.map((record) => this.#open.get(record.id)?.info ?? closedInfo(record))
  }

  async get(id: string): Promise<AgentSession> {
    const session = await this.#openNow(id)
    if (session !== undefined) return session
    const record = await this.#record(id)
    if (record === undefined) throw notFound(id)
    throw new VitrineError(
      'session_closed',
      `The session ${id} is not open here; call \`sessions.resume\` to restore it.`,
    )
  }

  /** The state of a session if it is open, masked as events are. Reads nothing from the journal. */
  look(id: string): LiveSession | undefined {
    const session = this.#open.get(id)
    if (session === undefined || session.closing) return undefined
    const { info, permissions, questions } = session
    return this.#store.redactValue({ info, permissions, questions })
  }

  async resume(id: string, options: Partial<Omit<OpenOptions, 'id' | 'agent'>> = {}): Promise<AgentSession> {
    checkOptions('sessions.resume', sessionOptions.resume, options)
    const open = await this.#openNow(id)
    if (open !== undefined) return open
    return this.#openOnce(id, async () => {
      const record = await this.#record(id)
      if (record === undefined) throw notFound(id)
      const all: OpenOptions = { ...recordedOptions(record), ...options, agent: record.agent, id }
      return this.#openWith(
        id,
        all,
        (session, found, signal) => this.#restoreWith(session, found, record, all, signal),
        record,
      )
    })
  }

  async resumeOrCreate(options: OpenOptions & { readonly id: string }): Promise<AgentSession> {
    checkOptions('sessions.resumeOrCreate', sessionOptions.open, options ?? {})
    const { id, agent: _agent, ...rest } = options
    for (;;) {
      const open = await this.#openNow(id)
      if (open !== undefined) return open
      const isKnown = (await this.#record(id)) !== undefined
      if (isKnown) return this.resume(id, rest)
      // Another call may have started to open it meanwhile.
      if (!this.#opening.has(id) && !this.#open.has(id)) return this.openSession(options)
    }
  }

  /** Runs or queues a prompt, or joins the turn that its id already is, also when the session is closed. */
  prompt(
    id: string,
    content: string | readonly ContentBlock[],
    options: BeginPromptOptions,
  ): Promise<JoinedTurn> {
    const { turn } = options
    return this.turns.arrive(async () => {
      await this.closeInterrupted()
      await this.turns.load(turn)
      const open = await this.#openNow(id)
      if (open !== undefined) return open.begin(content, options)
      const joined = this.turns.join(id, turn, this.turns.hash(turn, promptBlocks(content)))
      return joined ?? (await this.get(id)).begin(content, options)
    })
  }

  /** The turn with this id in this session, running or ended. */
  async turn(session: string, turn: string): Promise<JoinedTurn> {
    await this.closeInterrupted()
    await this.turns.load(turn)
    const known = this.turns.find(session, turn)
    // The end of a recorded turn is read first, so that the result has settled.
    if (known !== undefined && !(known instanceof PromptedTurn)) await known.result.catch(() => undefined)
    if (known !== undefined) return known
    throw new VitrineError('not_found', `There is no turn ${turn} in the session ${session}.`)
  }

  /** Ends, once, the sessions and the queued prompts that an earlier host left in the journal. */
  closeInterrupted(): Promise<void> {
    this.#interruptedClosed ??= this.#recover().catch((error: unknown) => {
      this.#interruptedClosed = undefined
      throw error
    })
    return this.#interruptedClosed
  }

  async #recover(): Promise<void> {
    await this.turns.recover()
    await this.#closeInterrupted()
  }

  async #closeInterrupted(): Promise<void> {
    const records = await readRecords(this.journal)
    const interrupted = records.filter(({ id, state }) => state === 'open' && !this.#open.has(id))
    if (interrupted.length === 0) return
    const data = { reason: 'interrupted', endedBy: 'host' }
    await this.journal.append(interrupted.map(({ id }) => ({ type: 'session.closed', session: id, data })))
  }

  /** Ends every session and every agent, within a bounded time. */
  async endAll(reason: string): Promise<void> {
    this.#ending.abort()
    this.#ending = new AbortController()
    const opening = Promise.allSettled(this.#opening.values())
    const closeOpen = () =>
      Promise.allSettled([...this.#open.values()].map((session) => session.close(reason)))
    const closing = closeOpen()
    // Do not wait for an agent that ignores the cancel.
    await settledWithin(Promise.all([opening, closing]), endMs, { ref: true })
    await this.#running.endAll()
    await closing
    await settledWithin(opening, endMs, { ref: true })
    await closeOpen()
    await this.#tools.closeAll()
  }

  #idFor(given: string | undefined): string {
    const id = given ?? newId('session')
    if (!sessionIdPattern.test(id))
      throw new VitrineError('argument_invalid', `id: expected letters, digits and "_.:-", got ${shown(id)}.`)
    if (this.#open.has(id) || this.#opening.has(id)) throw exists(id)
    return id
  }

  /** The session if it is open or being opened. */
  async #openNow(id: string): Promise<AgentSession | undefined> {
    const open = this.#open.get(id)
    if (open === undefined) return this.#opening.get(id)?.catch(() => undefined)
    if (!open.closing) return open
    await open.close().catch(() => undefined)
    return this.#openNow(id)
  }

  /** Runs `work` unless the session is already being opened; then returns that opening. */
  #openOnce(id: string, work: () => Promise<AgentSession>): Promise<AgentSession> {
    const current = this.#opening.get(id)
    if (current !== undefined) return current
    const opening = work().finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async #record(id: string): Promise<SessionRecord | undefined> {
    const [record] = await readRecords(this.journal, id)
    return record
  }

  async #openWith(
    id: string,
    options: OpenOptions,
    create: (session: AgentSession, found: FoundAgent, signal: AbortSignal) => Promise<Restored>,
    record?: Pick<SessionRecord, 'cwd' | 'turns' | 'title' | 'chosen'> &
      Partial<Pick<SessionRecord, 'createdAt' | 'lastTurn'>>,
  ): Promise<AgentSession> {
    const what = `Opening a session with ${options.agent}`
    if (options.signal?.aborted) throw cancelledError(what)
    const cwd = this.#cwd(options.cwd ?? record?.cwd)
    const request = { ...options, id, cwd }
    const session = new AgentSession(this, request, {
      cwd,
      createdAt: record?.createdAt ?? new Date().toISOString(),
      turns: record?.turns ?? 0,
      lastTurn: record?.lastTurn,
      ...(record?.title !== undefined && { title: record.title }),
    })
    await this.closeInterrupted()
    const signal = AbortSignal.any([this.#ending.signal, ...(options.signal ? [options.signal] : [])])
    try {
      const finding = findAgentFor(this.#environmentFor(session), request)
      const found = await withTimeLimit(finding, Number.POSITIVE_INFINITY, what, signal)
      session.attach(await create(session, found, signal))
      // A restored session gets its last options; a new one gets the mode that its agent needs in this sandbox.
      if (record !== undefined) await session.reapplyOptions(record.chosen, signal)
      await session.applyInitialOptions(record === undefined ? found.mode : undefined, signal)
      if (signal.aborted) throw cancelledError(what)
      this.#open.set(id, session)
      return session
    } catch (error) {
      if (session.instance === undefined) await this.release(session).catch(() => undefined)
      else await session.close('it could not be opened').catch(() => undefined)
      throw error
    }
  }

  /** An installation that the session needs is recorded with the context of whoever opened it. */
  #environmentFor({ journal }: AgentSession) {
    return { sandbox: this.sandbox, journal, store: this.#store, agents: this.#agents }
  }

  #cwd(cwd: string | undefined): string {
    const { root } = this.sandbox
    const path = resolve(root, cwd ?? '')
    if (path === root || path.startsWith(`${root}/`)) return path
    throw new VitrineError(
      'argument_invalid',
      `cwd: expected a directory of the workspace ${root}, got ${shown(cwd)}.`,
    )
  }

  /** Opens a new conversation and records it. */
  async #create(
    session: AgentSession,
    found: FoundAgent,
    options: OpenOptions,
    signal: AbortSignal,
  ): Promise<Restored> {
    return this.#running.use(session, found, signal, async (instance) => {
      const opened = await newConversation(this.#openContext(session, instance, options, signal))
      // Reject unknown options before the session is recorded.
      assertOptionsExist(instance.agent, readOptions(opened.answer), options)
      await this.#recordCreated(session, instance, opened, found, {})
      return { instance, ...opened }
    })
  }

  #openContext(session: AgentSession, instance: AgentInstance, options: OpenOptions, signal: AbortSignal) {
    const servers = () => this.#tools.serversFor(session, instance, options)
    return { session, instance, signal, servers }
  }

  async #recordCreated(
    session: AgentSession,
    instance: AgentInstance,
    { answer, agentSession }: OpenedConversation,
    found: FoundAgent,
    facts: JsonObject,
  ): Promise<void> {
    const { options } = session
    const grant = options.credentials
    const { permissions, limits, queue, restoreChars, mcpServers, model, mode, thoughtLevel } = options
    const given = { permissions, limits, queue, restoreChars, mcpServers, model, mode, thoughtLevel }
    const [created] = await session.journal.append([
      {
        type: 'session.created',
        data: {
          agent: found.name,
          instance: instance.id,
          agentSession,
          cwd: session.cwd,
          ...(found.credentials.length > 0 && { credentials: found.credentials }),
          ...(typeof grant === 'string' && { grant }),
          ...given,
          ...withinEventValues({ options: shownOptions(readOptions(answer)) }),
          ...facts,
        },
      },
    ])
    if (created !== undefined) session.createdAt = created.time
  }

  /** Starts an agent for a session whose own has exited, and restores the conversation. */
  async restore(session: AgentSession, signal: AbortSignal): Promise<Restored> {
    const record = await this.#record(session.id)
    if (record === undefined) throw notFound(session.id)
    const request: SessionRequest = { ...session.options, id: session.id, cwd: session.cwd }
    const found = await findAgentFor(this.#environmentFor(session), request)
    return this.#restoreWith(session, found, record, session.options, signal)
  }

  async #restoreWith(
    session: AgentSession,
    found: FoundAgent,
    record: SessionRecord,
    options: OpenOptions,
    signal: AbortSignal,
  ): Promise<Restored> {
    return this.#running.use(session, found, signal, async (instance) => {
      const context = this.#openContext(session, instance, options, signal)
      const restored = await restoredConversation(context, record, {
        transcript: () => this.#transcriptOf(session).read(),
        maxChars: options.restoreChars,
      })
      const { way, ...rest } = restored
      const { agentSession, recap } = rest
      await session.journal.append([
        {
          type: 'session.updated',
          data: {
            restored: way,
            instance: instance.id,
            agentSession,
            ...(recap !== undefined && { chars: recap.length }),
          },
        },
      ])
      return rest
    })
  }

  async fork(
    session: AgentSession,
    given: string | undefined,
    callContext?: HostCallContext,
  ): Promise<AgentSession> {
    const { instance } = session
    if (instance?.alive !== true || !instance.can('fork'))
      throw new VitrineError('unsupported', `The agent ${session.agent} cannot fork a session.`)
    const id = this.#idFor(given)
    // The fork continues with the current options, not with those that the session was opened with.
    const { signal: _signal, mode: _mode, model: _model, thoughtLevel: _level, ...same } = session.options
    const options = { ...same, ...(callContext && { context: callContext }) }
    const known = { cwd: session.cwd, turns: 0, title: session.info.title, chosen: session.info.options }
    const forking = async (forked: AgentSession, found: FoundAgent, signal: AbortSignal) => {
      const context = this.#openContext(forked, instance, options, signal)
      const opened = await forkedConversation(context, session)
      await this.#recordCreated(forked, instance, opened, found, { forkedFrom: session.id })
      return { instance, ...opened }
    }
    const release = instance.claim()
    return this.#openOnce(id, async () => {
      if (given !== undefined && (await this.#record(id)) !== undefined) throw exists(id)
      const fork = (forked: AgentSession, found: FoundAgent, signal: AbortSignal) =>
        this.#running.useClaimed(forked, instance, release, () => forking(forked, found, signal))
      return this.#openWith(id, { ...options, id }, fork, known)
    }).finally(release)
  }

  onClosed(session: AgentSession): void {
    if (this.#open.get(session.id) === session) this.#open.delete(session.id)
    this.#transcripts.delete(session.id)
  }

  /** Closes the tools of a session, and stops its agent when no other session uses it. */
  async release(session: AgentSession): Promise<void> {
    const tools = await this.#tools.close(session.id)
    const { instance } = session
    instance?.forget(session)
    if (instance?.idle && instance.bridge.exit === undefined) await instance.end()
    tools?.forget()
  }

  transcript(session: AgentSession): Promise<Transcript> {
    return this.#transcriptOf(session).read()
  }

  #transcriptOf({ id }: AgentSession): SessionTranscript {
    const known = this.#transcripts.get(id) ?? new SessionTranscript(this.journal, id)
    // Cache only the transcripts of open sessions.
    if (this.#open.has(id)) this.#transcripts.set(id, known)
    return known
  }
}

function exists(id: string): VitrineError {
  return new VitrineError('session_exists', `A session ${id} already exists in this sandbox.`)
}

function notFound(id: string): VitrineError {
  return new VitrineError('session_not_found', `There is no session ${id} in this sandbox.`)
}
