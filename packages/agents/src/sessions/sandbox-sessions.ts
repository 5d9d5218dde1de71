import type { Journal, Store } from '@vitrine/journal'
import {
  isVitrineError,
  type JsonObject,
  newId,
  type OpenSessionOptions,
  type Session,
  type SessionInfo,
  type Sessions,
  VitrineError,
} from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
import { transcriptText } from '@vitrine/views'
import type { ToolsOption } from '../agents.ts'
import { type ServedTools, serveTools } from '../tools/serve-tools.ts'
import { AgentInstance } from './agent-instance.ts'
import { AgentSession, type Restored, type SessionHome } from './agent-session.ts'
import { readOptions, shownOptions } from './config-options.ts'
import { objectIn, textIn } from './fields.ts'
import { defaultRestoreChars } from './limits.ts'
import { readRecords, type SessionRecord } from './session-records.ts'
import { asJson, SessionTranscript } from './session-transcript.ts'
import { type AgentsOf, type FoundAgent, findAgentFor, type Wanted } from './start-agent.ts'

export interface SandboxSessionsOptions {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  readonly store: Store
  readonly agents: AgentsOf
}

export type OpenOptions = OpenSessionOptions & ToolsOption

/** The sessions of one sandbox: those that are open, and those that its journal knows. */
export class SandboxSessions implements Sessions, SessionHome {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  readonly #store: Store
  readonly #agents: AgentsOf
  readonly #open = new Map<string, AgentSession>()
  readonly #tools = new Map<string, ServedTools>()
  readonly #transcripts = new Map<string, SessionTranscript>()
  /** Agents that several sessions may have, by what they were started with. */
  readonly #shared = new Map<string, Promise<AgentInstance>>()
  readonly #instances = new Set<AgentInstance>()

  constructor({ sandbox, journal, store, agents }: SandboxSessionsOptions) {
    this.sandbox = sandbox
    this.journal = journal.as({ source: 'host' })
    this.#store = store
    this.#agents = agents
  }

  async openSession(options: OpenOptions): Promise<Session> {
    const id = this.#idFor(options.id)
    if (options.id !== undefined && (await this.#record(id)) !== undefined)
      throw new VitrineError('session_exists', `There is a session ${id} in this sandbox already.`)
    return this.#begin(id, options, (session, found) => this.#create(session, found, options, {}))
  }

  async list(): Promise<readonly SessionInfo[]> {
    const records = await readRecords(this.journal)
    return records.map((record) => this.#open.get(record.id)?.info ?? closedInfo(record))
  }

  async get(id: string): Promise<Session> {
    const session = this.#open.get(id)
    if (session !== undefined) return session
    const record = await this.#record(id)
    if (record === undefined) throw notFound(id)
    throw new VitrineError(
      'session_closed',
      `The session ${id} is not open here; \`sessions.resume\` brings it back.`,
    )
  }

  async resume(id: string, options: Partial<Omit<OpenOptions, 'id' | 'agent'>> = {}): Promise<Session> {
    const open = this.#open.get(id)
    if (open !== undefined) return open
    const record = await this.#record(id)
    if (record === undefined) throw notFound(id)
    const all: OpenOptions = { ...recordedOptions(record), ...options, agent: record.agent, id }
    return this.#begin(id, all, (session, found) => this.#bringBack(session, found, record, all), record)
  }

  async resumeOrCreate(options: OpenOptions & { readonly id: string }): Promise<Session> {
    const known = this.#open.has(options.id) || (await this.#record(options.id)) !== undefined
    if (!known) return this.openSession(options)
    const { id, agent: _agent, ...rest } = options
    return this.resume(id, rest)
  }

  /** Ends every session and every agent, within a bounded time. */
  async endAll(reason: string): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map((session) => session.close(reason)))
    await Promise.allSettled([...this.#instances].map((instance) => instance.end(0)))
    await Promise.allSettled([...this.#tools.values()].map((tools) => tools.close()))
  }

  #idFor(given: string | undefined): string {
    const id = given ?? newId('session')
    if (!/^[A-Za-z0-9_.:-]{1,128}$/.test(id))
      throw new VitrineError(
        'argument_invalid',
        `id: expected letters, digits and "_.:-", got ${JSON.stringify(id)}.`,
      )
    if (this.#open.has(id))
      throw new VitrineError('session_exists', `There is a session ${id} in this sandbox already.`)
    return id
  }

  async #record(id: string): Promise<SessionRecord | undefined> {
    const [record] = await readRecords(this.journal, id)
    return record
  }

  async #begin(
    id: string,
    options: OpenOptions,
    create: (session: AgentSession, found: FoundAgent) => Promise<Restored>,
    record?: SessionRecord,
  ): Promise<Session> {
    const cwd = this.#cwd(options.cwd ?? record?.cwd)
    const wanted = { ...options, id, cwd }
    const session = new AgentSession(this, wanted, {
      cwd,
      createdAt: record?.createdAt ?? new Date().toISOString(),
      turns: record?.turns ?? 0,
      ...(record?.title !== undefined && { title: record.title }),
    })
    this.#open.set(id, session)
    try {
      const found = await findAgentFor(this.#where, wanted)
      session.begin(await create(session, found))
      await session.chooseFirst(found.mode)
      return session
    } catch (error) {
      await this.closed(session).catch(() => undefined)
      throw error
    }
  }

  get #where() {
    return { sandbox: this.sandbox, store: this.#store, agents: this.#agents }
  }

  #cwd(cwd: string | undefined): string {
    if (cwd === undefined || cwd === '') return this.sandbox.root
    return cwd.startsWith('/') ? cwd : `${this.sandbox.root}/${cwd}`
  }

  /** An agent for a session: one that is shared, or one of its own. */
  async #instanceFor(session: AgentSession, found: FoundAgent): Promise<AgentInstance> {
    const { shareKey } = found
    const running = shareKey === undefined ? undefined : this.#shared.get(shareKey)
    const there = await running?.catch(() => undefined)
    if (there?.alive) return there
    const starting = this.#start(found, session.options.signal)
    if (shareKey !== undefined) this.#shared.set(shareKey, starting)
    return starting
  }

  async #start(found: FoundAgent, signal: AbortSignal | undefined): Promise<AgentInstance> {
    const { name: agent, quirks, howToLogIn, credentials } = found
    const transport = await found.start()
    const instance = await AgentInstance.start(
      { agent, transport, journal: this.journal, credentials, quirks, howToLogIn },
      signal,
    )
    this.#instances.add(instance)
    void instance.bridge.closed.finally(() => this.#instances.delete(instance)).catch(() => undefined)
    return instance
  }

  /** A new conversation. */
  async #create(
    session: AgentSession,
    found: FoundAgent,
    options: OpenOptions,
    facts: JsonObject,
  ): Promise<Restored> {
    const instance = await this.#instanceFor(session, found)
    const { answer, agentSession } = await this.#newSession(session, instance, options)
    await this.#recordCreated(session, instance, { answer, agentSession }, found, facts)
    return { instance, answer, agentSession }
  }

  async #newSession(session: AgentSession, instance: AgentInstance, options: OpenOptions) {
    return instance.opening(session, false, async () => {
      const mcpServers = await this.#serversFor(session, instance, options)
      const answer = await instance.request('session/new', { cwd: session.cwd, mcpServers })
      const agentSession = textIn(answer, 'sessionId')
      if (agentSession === undefined)
        throw new VitrineError(
          'agent_confused',
          `The agent ${instance.agent} answered session/new without a sessionId: ${JSON.stringify(answer).slice(0, 200)}`,
        )
      instance.sessions.set(agentSession, session)
      return { answer, agentSession }
    })
  }

  async #recordCreated(
    session: AgentSession,
    instance: AgentInstance,
    { answer, agentSession }: { answer: JsonObject; agentSession: string },
    found: FoundAgent,
    facts: JsonObject,
  ): Promise<void> {
    const { options } = session
    const grant = options.credentials
    const { permissions, limits, queue, restoreChars, mcpServers, model, mode, thoughtLevel } = options
    const given = { permissions, limits, queue, restoreChars, mcpServers, model, mode, thoughtLevel }
    await session.journal.append([
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
  }

  async #serversFor(
    session: AgentSession,
    instance: AgentInstance,
    { mcpServers = [], tools = [] }: OpenOptions,
  ): Promise<readonly JsonObject[]> {
    if (tools.length === 0) return mcpServers
    const served = this.#tools.get(session.id) ?? (await this.#serve(session, tools))
    const http = objectIn(instance.capabilities, 'mcpCapabilities')?.http === true
    return [...mcpServers, { ...(http ? served.server : served.stdio) }]
  }

  async #serve(session: AgentSession, tools: NonNullable<OpenOptions['tools']>): Promise<ServedTools> {
    const served = await serveTools({
      session: session.id,
      tools,
      listen: (port) => this.sandbox.listen(port),
      around: (tool, input, run) =>
        this.journal
          .as({ ...session.context, actor: session.agent })
          .operate('host_tool', { tool, input }, run),
      relay: { node: this.#agents.node },
    })
    this.#store.addSecret(`tools of ${session.id}`, served.token)
    this.#tools.set(session.id, served)
    return served
  }

  /** A session whose agent has ended, or that an earlier host had. */
  async restore(session: AgentSession): Promise<Restored> {
    const record = await this.#record(session.id)
    if (record === undefined) throw notFound(session.id)
    const wanted: Wanted = { ...session.options, id: session.id, cwd: session.cwd }
    const found = await findAgentFor(this.#where, wanted)
    const restored = await this.#bringBack(session, found, record, session.options)
    this.#open.set(session.id, session)
    return restored
  }

  async #bringBack(
    session: AgentSession,
    found: FoundAgent,
    record: SessionRecord,
    options: OpenOptions,
  ): Promise<Restored> {
    const instance = await this.#instanceFor(session, found)
    const restored =
      (await this.#byAgent(session, instance, record, options)) ??
      (await this.#byTranscript(session, instance, options))
    const { way, ...rest } = restored
    const { agentSession, told } = rest
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
  }

  /** By its own memory: without telling everything again where it can. */
  async #byAgent(
    session: AgentSession,
    instance: AgentInstance,
    record: SessionRecord,
    options: OpenOptions,
  ): Promise<(Restored & { readonly way: 'load' | 'resume' }) | undefined> {
    const { agentSession } = record
    if (agentSession === undefined) return undefined
    const tooYoung = Date.now() - Date.parse(record.createdAt) < (instance.quirks.loadsAfterMs ?? 0)
    const ways = [
      ...(instance.can('resume') ? (['resume'] as const) : []),
      ...(instance.canLoad && !tooYoung ? (['load'] as const) : []),
    ]
    for (const way of ways) {
      try {
        const answer = await instance.opening(session, true, async () => {
          const mcpServers = await this.#serversFor(session, instance, options)
          instance.sessions.set(agentSession, session)
          return instance.request(`session/${way}`, { sessionId: agentSession, cwd: session.cwd, mcpServers })
        })
        return { instance, answer, agentSession, way }
      } catch (error) {
        instance.sessions.delete(agentSession)
        if (!isVitrineError(error) || error.code === 'agent_exited') throw error
        const message = `session/${way} failed, another way is tried: ${error.message}`
        await session.journal.append([{ type: 'log.message', data: { level: 'warn', message } }])
      }
    }
    return undefined
  }

  /** By being told what was said. */
  async #byTranscript(
    session: AgentSession,
    instance: AgentInstance,
    options: OpenOptions,
  ): Promise<Restored & { readonly way: 'transcript' }> {
    const transcript = await this.#transcriptOf(session).read()
    const maxChars = options.restoreChars ?? defaultRestoreChars
    const { answer, agentSession } = await this.#newSession(session, instance, options)
    const text = maxChars === 0 ? '' : transcriptText(transcript, { maxChars })
    const told = text === '' ? undefined : `${preface}\n\n${text}`
    return { instance, answer, agentSession, way: 'transcript', ...(told !== undefined && { told }) }
  }

  async fork(session: AgentSession, given: string | undefined): Promise<Session> {
    const { instance } = session
    if (instance?.alive !== true || !instance.can('fork'))
      throw new VitrineError('unsupported', `The agent ${session.agent} cannot fork a session.`)
    const id = this.#idFor(given)
    const { signal: _signal, ...options } = session.options
    return this.#begin(id, { ...options, id }, (forked, found) =>
      instance.opening(forked, true, async () => {
        const mcpServers = await this.#serversFor(forked, instance, options)
        const { cwd } = forked
        const answer = await instance.request('session/fork', {
          sessionId: session.agentSession,
          cwd,
          mcpServers,
        })
        const agentSession = textIn(answer, 'sessionId')
        if (agentSession === undefined)
          throw new VitrineError('agent_confused', `The agent ${session.agent} forked without a sessionId.`)
        instance.sessions.set(agentSession, forked)
        await this.#recordCreated(forked, instance, { answer, agentSession }, found, {
          forkedFrom: session.id,
        })
        return { instance, answer, agentSession }
      }),
    )
  }

  /** It is over: its agent goes with the last of its sessions. */
  async closed(session: AgentSession): Promise<void> {
    if (this.#open.get(session.id) === session) this.#open.delete(session.id)
    this.#transcripts.delete(session.id)
    const tools = this.#tools.get(session.id)
    this.#tools.delete(session.id)
    await tools?.close()
    const { instance } = session
    if (instance === undefined) return
    for (const [key, one] of instance.sessions) if (one === session) instance.sessions.delete(key)
    if (instance.sessions.size === 0 && instance.bridge.exit === undefined) await instance.end()
  }

  async transcript(session: AgentSession): Promise<JsonObject> {
    return asJson(await this.#transcriptOf(session).read())
  }

  #transcriptOf({ id }: AgentSession): SessionTranscript {
    const known = this.#transcripts.get(id) ?? new SessionTranscript(this.journal, id)
    this.#transcripts.set(id, known)
    return known
  }
}

const preface =
  'We have talked before, and you may not remember it. This is the newest part of what was said and done; go on from there.'

function notFound(id: string): VitrineError {
  return new VitrineError('session_not_found', `There is no session ${id} in this sandbox.`)
}

function closedInfo({ id, agent, createdAt, cwd, turns, title, agentSession }: SessionRecord): SessionInfo {
  return {
    id,
    agent,
    state: 'closed',
    createdAt,
    cwd,
    turns,
    busy: false,
    options: [],
    ...(title !== undefined && { title }),
    ...(agentSession !== undefined && { agentSession }),
  }
}

/** What it was opened with; values of credentials were never written down. */
function recordedOptions({ options }: SessionRecord): Partial<OpenOptions> {
  const { permissions, limits, queue, restoreChars, mcpServers, model, mode, thoughtLevel, grant } = options
  const known = { permissions, limits, queue, restoreChars, mcpServers, model, mode, thoughtLevel }
  const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined))
  return {
    ...given,
    credentials: grant === 'env' || grant === 'host' ? grant : 'none',
  } as Partial<OpenOptions>
}
