import { resolve } from 'node:path'
import type { Journal, Store } from '@vitrine/journal'
import {
  type CallContext,
  type JsonObject,
  newId,
  type OpenSessionOptions,
  type SessionInfo,
  type Sessions,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, sessionOptions } from '@vitrine/protocol/options'
import type { LocalSandbox } from '@vitrine/sandbox'
import type { Transcript } from '@vitrine/views'
import type { ToolsOption } from '../tools/host-tool.ts'
import type { AgentInstance } from './agent-instance.ts'
import { AgentSession, type Restored, type SessionHost } from './agent-session.ts'
import { mustHave, readOptions, shownOptions } from './config-options.ts'
import { cancelled, endMs, endsWithin, withinTime } from './limits.ts'
import {
  forkedConversation,
  newConversation,
  type OpenedConversation,
  restoredConversation,
} from './open-conversation.ts'
import { RunningAgents } from './running-agents.ts'
import { closedInfo, readRecords, recordedOptions, type SessionRecord } from './session-records.ts'
import { SessionTools } from './session-tools.ts'
import { SessionTranscript } from './session-transcript.ts'
import type { AgentConfig } from './start/agent-config.ts'
import { type FoundAgent, findAgentFor, type SessionRequest } from './start-agent.ts'

export interface SandboxSessionsOptions {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  readonly store: Store
  readonly agents: AgentConfig
}

export type OpenOptions = OpenSessionOptions &
  ToolsOption & {
    /** Who opens it, and within what: its events carry it. */
    readonly context?: CallContext
  }

/** The sessions of one sandbox: those that are open, and those that its journal knows. */
export class SandboxSessions implements Sessions, SessionHost {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  readonly #store: Store
  readonly #agents: AgentConfig
  readonly #open = new Map<string, AgentSession>()
  /** Those that are being opened or brought back. */
  readonly #opening = new Map<string, Promise<AgentSession>>()
  readonly #tools: SessionTools
  readonly #running: RunningAgents
  readonly #transcripts = new Map<string, SessionTranscript>()
  /** Aborted when everything is ended; then there is another. */
  #ending = new AbortController()
  #settled: Promise<void> | undefined

  constructor({ sandbox, journal, store, agents }: SandboxSessionsOptions) {
    this.sandbox = sandbox
    this.journal = journal.as({ source: 'host' })
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
      return this.#begin(id, options, (session, found, signal) =>
        this.#create(session, found, options, signal),
      )
    })
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
      `The session ${id} is not open here; \`sessions.resume\` brings it back.`,
    )
  }

  async resume(id: string, options: Partial<Omit<OpenOptions, 'id' | 'agent'>> = {}): Promise<AgentSession> {
    checkOptions('sessions.resume', sessionOptions.resume, options)
    const open = await this.#openNow(id)
    if (open !== undefined) return open
    return this.#openOnce(id, async () => {
      const record = await this.#record(id)
      if (record === undefined) throw notFound(id)
      const all: OpenOptions = { ...recordedOptions(record), ...options, agent: record.agent, id }
      return this.#begin(
        id,
        all,
        (session, found, signal) => this.#bringBack(session, found, record, all, signal),
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
      // Somebody may have begun to open it meanwhile.
      if (!this.#opening.has(id) && !this.#open.has(id)) return this.openSession(options)
    }
  }

  /** What an earlier host left open in the record is closed there, once, before anything else happens here. */
  closeInterrupted(): Promise<void> {
    this.#settled ??= this.#settle().catch((error: unknown) => {
      this.#settled = undefined
      throw error
    })
    return this.#settled
  }

  async #settle(): Promise<void> {
    const records = await readRecords(this.journal)
    const left = records.filter(({ id, state }) => state === 'open' && !this.#open.has(id))
    if (left.length === 0) return
    const data = { reason: 'interrupted', endedBy: 'host' }
    await this.journal.append(left.map(({ id }) => ({ type: 'session.closed', session: id, data })))
  }

  /** Ends every session and every agent, within a bounded time. */
  async endAll(reason: string): Promise<void> {
    this.#ending.abort()
    this.#ending = new AbortController()
    const opening = Promise.allSettled(this.#opening.values())
    const closeOpen = () =>
      Promise.allSettled([...this.#open.values()].map((session) => session.close(reason)))
    const closing = closeOpen()
    // An agent that does not heed its cancel is not waited for here.
    await endsWithin(Promise.all([opening, closing]), endMs)
    await this.#running.endAll()
    await closing
    await endsWithin(opening, endMs)
    await closeOpen()
    await this.#tools.closeAll()
  }

  #idFor(given: string | undefined): string {
    const id = given ?? newId('session')
    if (!/^[A-Za-z0-9_.:-]{1,128}$/.test(id))
      throw new VitrineError(
        'argument_invalid',
        `id: expected letters, digits and "_.:-", got ${JSON.stringify(id)}.`,
      )
    if (this.#open.has(id) || this.#opening.has(id)) throw exists(id)
    return id
  }

  /** One that is open, or will be in a moment. */
  async #openNow(id: string): Promise<AgentSession | undefined> {
    const open = this.#open.get(id)
    if (open === undefined) return this.#opening.get(id)?.catch(() => undefined)
    if (!open.closing) return open
    await open.close().catch(() => undefined)
    return this.#openNow(id)
  }

  /** Nobody else opens it meanwhile: who comes second waits for the first. */
  #openOnce(id: string, work: () => Promise<AgentSession>): Promise<AgentSession> {
    const under = this.#opening.get(id)
    if (under !== undefined) return under
    const opening = work().finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async #record(id: string): Promise<SessionRecord | undefined> {
    const [record] = await readRecords(this.journal, id)
    return record
  }

  async #begin(
    id: string,
    options: OpenOptions,
    create: (session: AgentSession, found: FoundAgent, signal: AbortSignal) => Promise<Restored>,
    record?: Pick<SessionRecord, 'cwd' | 'turns' | 'title' | 'chosen'> & { readonly createdAt?: string },
  ): Promise<AgentSession> {
    const what = `Opening a session with ${options.agent}`
    if (options.signal?.aborted) throw cancelled(what)
    const cwd = this.#cwd(options.cwd ?? record?.cwd)
    const wanted = { ...options, id, cwd }
    const session = new AgentSession(this, wanted, {
      cwd,
      createdAt: record?.createdAt ?? new Date().toISOString(),
      turns: record?.turns ?? 0,
      ...(record?.title !== undefined && { title: record.title }),
    })
    await this.closeInterrupted()
    const signal = AbortSignal.any([this.#ending.signal, ...(options.signal ? [options.signal] : [])])
    try {
      const finding = findAgentFor(this.#where, wanted)
      const found = await withinTime(finding, Number.POSITIVE_INFINITY, what, signal)
      session.begin(await create(session, found, signal))
      // One that comes back has what was chosen last; a new one begins with what its agent should have here.
      if (record !== undefined) await session.reapplyOptions(record.chosen, signal)
      await session.applyInitialOptions(record === undefined ? found.mode : undefined, signal)
      if (signal.aborted) throw cancelled(what)
      this.#open.set(id, session)
      return session
    } catch (error) {
      if (session.instance === undefined) await this.closed(session).catch(() => undefined)
      else await session.close('it could not be opened').catch(() => undefined)
      throw error
    }
  }

  get #where() {
    return { sandbox: this.sandbox, journal: this.journal, store: this.#store, agents: this.#agents }
  }

  #cwd(cwd: string | undefined): string {
    const { root } = this.sandbox
    const path = resolve(root, cwd ?? '')
    if (path === root || path.startsWith(`${root}/`)) return path
    throw new VitrineError(
      'argument_invalid',
      `cwd: expected a directory of the workspace ${root}, got ${JSON.stringify(cwd)}.`,
    )
  }

  /** A new conversation. */
  async #create(
    session: AgentSession,
    found: FoundAgent,
    options: OpenOptions,
    signal: AbortSignal,
  ): Promise<Restored> {
    return this.#running.use(session, found, signal, async (instance) => {
      const begun = await newConversation(this.#beginning(session, instance, options, signal))
      // What cannot be had is said before there is a session.
      mustHave(instance.agent, readOptions(begun.answer), options)
      await this.#recordCreated(session, instance, begun, found, {})
      return { instance, ...begun }
    })
  }

  #beginning(session: AgentSession, instance: AgentInstance, options: OpenOptions, signal: AbortSignal) {
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
          options: shownOptions(readOptions(answer)),
          ...facts,
        },
      },
    ])
    if (created !== undefined) session.createdAt = created.time
  }

  /** A session whose agent has ended, or that an earlier host had. */
  async restore(session: AgentSession, signal: AbortSignal): Promise<Restored> {
    const record = await this.#record(session.id)
    if (record === undefined) throw notFound(session.id)
    const wanted: SessionRequest = { ...session.options, id: session.id, cwd: session.cwd }
    const found = await findAgentFor(this.#where, wanted)
    return this.#bringBack(session, found, record, session.options, signal)
  }

  async #bringBack(
    session: AgentSession,
    found: FoundAgent,
    record: SessionRecord,
    options: OpenOptions,
    signal: AbortSignal,
  ): Promise<Restored> {
    return this.#running.use(session, found, signal, async (instance) => {
      const beginning = this.#beginning(session, instance, options, signal)
      const restored = await restoredConversation(beginning, record, {
        transcript: () => this.#transcriptOf(session).read(),
        maxChars: options.restoreChars,
      })
      const { way, ...rest } = restored
      const { agentSession, recap: told } = rest
      await session.journal.append([
        {
          type: 'session.updated',
          data: {
            restored: way,
            instance: instance.id,
            agentSession,
            ...(told !== undefined && { chars: told.length }),
          },
        },
      ])
      return rest
    })
  }

  async fork(session: AgentSession, given: string | undefined): Promise<AgentSession> {
    const { instance } = session
    if (instance?.alive !== true || !instance.can('fork'))
      throw new VitrineError('unsupported', `The agent ${session.agent} cannot fork a session.`)
    const id = this.#idFor(given)
    // It goes on with what is chosen now, not with what the first was opened with.
    const { signal: _signal, mode: _mode, model: _model, thoughtLevel: _level, ...options } = session.options
    const known = { cwd: session.cwd, turns: 0, title: session.info.title, chosen: session.info.options }
    const forking = async (forked: AgentSession, found: FoundAgent, signal: AbortSignal) => {
      const begun = await forkedConversation(this.#beginning(forked, instance, options, signal), session)
      await this.#recordCreated(forked, instance, begun, found, { forkedFrom: session.id })
      return { instance, ...begun }
    }
    const release = instance.claim()
    return this.#openOnce(id, async () => {
      if (given !== undefined && (await this.#record(id)) !== undefined) throw exists(id)
      const fork = (forked: AgentSession, found: FoundAgent, signal: AbortSignal) =>
        this.#running.working(forked, instance, release, () => forking(forked, found, signal))
      return this.#begin(id, { ...options, id }, fork, known)
    }).finally(release)
  }

  ended(session: AgentSession): void {
    if (this.#open.get(session.id) === session) this.#open.delete(session.id)
    this.#transcripts.delete(session.id)
  }

  /** It is over: its agent goes with the last of its sessions. */
  async closed(session: AgentSession): Promise<void> {
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
    // Of one that is closed nothing is kept.
    if (this.#open.has(id)) this.#transcripts.set(id, known)
    return known
  }
}

function exists(id: string): VitrineError {
  return new VitrineError('session_exists', `There is a session ${id} in this sandbox already.`)
}

function notFound(id: string): VitrineError {
  return new VitrineError('session_not_found', `There is no session ${id} in this sandbox.`)
}
