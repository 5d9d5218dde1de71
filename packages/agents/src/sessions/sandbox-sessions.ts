import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Journal, Store } from '@vitrine/journal'
import {
  isVitrineError,
  type JsonObject,
  newId,
  type OpenSessionOptions,
  type SessionInfo,
  type Sessions,
  VitrineError,
} from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
import { type Transcript, transcriptText } from '@vitrine/views'
import type { ToolsOption } from '../agents.ts'
import { type ServedTools, serveTools } from '../tools/serve-tools.ts'
import { AgentInstance } from './agent-instance.ts'
import { AgentSession, type Restored, type SessionHome } from './agent-session.ts'
import { readOptions, shownOptions } from './config-options.ts'
import { objectIn, textIn } from './fields.ts'
import { cancelled, defaultRestoreChars, endMs } from './limits.ts'
import { checkLimits } from './session-limits.ts'
import { readRecords, type SessionRecord } from './session-records.ts'
import { SessionTranscript } from './session-transcript.ts'
import { type AgentsOf, type FoundAgent, findAgentFor, type Wanted } from './start-agent.ts'
import { Starting } from './starting.ts'

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
  /** Those that are being opened or brought back. */
  readonly #opening = new Map<string, Promise<AgentSession>>()
  readonly #tools = new Map<string, ServedTools & { forget(): void }>()
  readonly #transcripts = new Map<string, SessionTranscript>()
  /** Agents that several sessions may have, by what they were started with. */
  readonly #shared = new Map<string, Starting>()
  readonly #instances = new Set<AgentInstance>()
  /** Aborted when everything is ended; then there is another. */
  #ending = new AbortController()

  constructor({ sandbox, journal, store, agents }: SandboxSessionsOptions) {
    this.sandbox = sandbox
    this.journal = journal.as({ source: 'host' })
    this.#store = store
    this.#agents = agents
  }

  async openSession(options: OpenOptions): Promise<AgentSession> {
    const id = this.#idFor(options.id)
    return this.#openOnce(id, async () => {
      if (options.id !== undefined && (await this.#record(id)) !== undefined) throw exists(id)
      return this.#begin(id, options, (session, found, signal) =>
        this.#create(session, found, options, signal),
      )
    })
  }

  async list(): Promise<readonly SessionInfo[]> {
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
    const { id, agent: _agent, ...rest } = options
    const isKnown = this.#open.has(id) || (await this.#record(id)) !== undefined
    if (isKnown || this.#opening.has(id)) return this.resume(id, rest)
    return this.openSession(options)
  }

  /** Ends every session and every agent, within a bounded time. */
  async endAll(reason: string): Promise<void> {
    this.#ending.abort()
    this.#ending = new AbortController()
    await Promise.allSettled(this.#opening.values())
    const closing = Promise.allSettled([...this.#open.values()].map((session) => session.close(reason)))
    // An agent that does not heed its cancel is not waited for here.
    await Promise.race([closing, sleep(endMs, undefined, { ref: false })])
    await Promise.allSettled([...this.#instances].map((instance) => instance.end(0)))
    await closing
    await Promise.allSettled([...this.#tools.values()].map((tools) => tools.close()))
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
    return this.#open.get(id) ?? (await this.#opening.get(id)?.catch(() => undefined))
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
    if (options.signal?.aborted) throw cancelled(`Opening a session with ${options.agent}`)
    checkLimits(options)
    const cwd = this.#cwd(options.cwd ?? record?.cwd)
    const wanted = { ...options, id, cwd }
    const session = new AgentSession(this, wanted, {
      cwd,
      createdAt: record?.createdAt ?? new Date().toISOString(),
      turns: record?.turns ?? 0,
      ...(record?.title !== undefined && { title: record.title }),
    })
    const signal = AbortSignal.any([this.#ending.signal, ...(options.signal ? [options.signal] : [])])
    try {
      const found = await findAgentFor(this.#where, wanted)
      session.begin(await create(session, found, signal))
      // One that comes back has what was chosen last; a new one begins with what its agent should have here.
      if (record !== undefined) await session.chooseAgain(record.chosen)
      await session.chooseFirst(record === undefined ? found.mode : undefined)
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

  /** Works with an agent for a session. One that has no session afterwards is ended. */
  async #withAgent<T>(
    session: AgentSession,
    found: FoundAgent,
    signal: AbortSignal,
    work: (instance: AgentInstance) => Promise<T>,
  ): Promise<T> {
    const { instance, release } = await this.#claim(found, signal)
    return this.#working(session, instance, release, () => work(instance))
  }

  async #working<T>(
    session: AgentSession,
    instance: AgentInstance,
    release: () => void,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work()
    } catch (error) {
      instance.forget(session)
      throw error
    } finally {
      release()
      if (instance.idle && instance.alive) await instance.end().catch(() => undefined)
    }
  }

  /** One that is shared, or one of its own; it stays until it is released. */
  async #claim(
    found: FoundAgent,
    signal: AbortSignal,
  ): Promise<{ readonly instance: AgentInstance; release(): void }> {
    const { shareKey, name } = found
    const what = `Starting the agent ${name}`
    const claimed = (instance: AgentInstance) => ({ instance, release: instance.claim() })
    if (shareKey === undefined)
      return claimed(await new Starting((given) => this.#start(found, given)).wait(what, signal))
    for (let there = this.#shared.get(shareKey); there !== undefined; there = this.#shared.get(shareKey)) {
      const instance = await there.wait(what, signal).catch((error: unknown) => {
        if (signal.aborted) throw error
      })
      if (instance?.alive) return claimed(instance)
      if (this.#shared.get(shareKey) === there) this.#shared.delete(shareKey)
    }
    const starting = new Starting((given) => this.#start(found, given))
    this.#shared.set(shareKey, starting)
    return claimed(await starting.wait(what, signal))
  }

  async #start(found: FoundAgent, signal: AbortSignal): Promise<AgentInstance> {
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
    signal: AbortSignal,
  ): Promise<Restored> {
    return this.#withAgent(session, found, signal, async (instance) => {
      const { answer, agentSession } = await this.#newSession(session, instance, options, signal)
      await this.#recordCreated(session, instance, { answer, agentSession }, found, {})
      return { instance, answer, agentSession }
    })
  }

  async #newSession(
    session: AgentSession,
    instance: AgentInstance,
    options: OpenOptions,
    signal: AbortSignal,
  ) {
    return instance.opening(session, false, async () => {
      const mcpServers = await this.#serversFor(session, instance, options)
      const answer = await instance.request('session/new', { cwd: session.cwd, mcpServers }, { signal })
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
    const forget = this.#store.addSecret(`tools of ${session.id}`, served.token)
    this.#tools.set(session.id, { ...served, forget })
    return served
  }

  /** A session whose agent has ended, or that an earlier host had. */
  async restore(session: AgentSession, signal: AbortSignal): Promise<Restored> {
    const record = await this.#record(session.id)
    if (record === undefined) throw notFound(session.id)
    const wanted: Wanted = { ...session.options, id: session.id, cwd: session.cwd }
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
    return this.#withAgent(session, found, signal, async (instance) => {
      const restored =
        (await this.#byAgent(session, instance, record, options, signal)) ??
        (await this.#byTranscript(session, instance, options, signal))
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
    })
  }

  /** By its own memory: without telling everything again where it can. */
  async #byAgent(
    session: AgentSession,
    instance: AgentInstance,
    record: SessionRecord,
    options: OpenOptions,
    signal: AbortSignal,
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
          const asked = { sessionId: agentSession, cwd: session.cwd, mcpServers }
          return instance.request(`session/${way}`, asked, { signal })
        })
        return { instance, answer, agentSession, way }
      } catch (error) {
        instance.sessions.delete(agentSession)
        if (signal.aborted || !instance.alive || !isVitrineError(error)) throw error
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
    signal: AbortSignal,
  ): Promise<Restored & { readonly way: 'transcript' }> {
    const transcript = await this.#transcriptOf(session).read()
    const maxChars = options.restoreChars ?? defaultRestoreChars
    const { answer, agentSession } = await this.#newSession(session, instance, options, signal)
    const text = maxChars === 0 ? '' : transcriptText(transcript, { maxChars })
    const told = text === '' ? undefined : `${preface}\n\n${text}`
    return { instance, answer, agentSession, way: 'transcript', ...(told !== undefined && { told }) }
  }

  async fork(session: AgentSession, given: string | undefined): Promise<AgentSession> {
    const { instance } = session
    if (instance?.alive !== true || !instance.can('fork'))
      throw new VitrineError('unsupported', `The agent ${session.agent} cannot fork a session.`)
    const id = this.#idFor(given)
    // It goes on with what is chosen now, not with what the first was opened with.
    const { signal: _signal, mode: _mode, model: _model, thoughtLevel: _level, ...options } = session.options
    const known = { cwd: session.cwd, turns: 0, title: session.info.title, chosen: session.info.options }
    const forking = (forked: AgentSession, found: FoundAgent) =>
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
      })
    const release = instance.claim()
    return this.#openOnce(id, async () => {
      if (given !== undefined && (await this.#record(id)) !== undefined) throw exists(id)
      const fork = (forked: AgentSession, found: FoundAgent) =>
        this.#working(forked, instance, release, () => forking(forked, found))
      return this.#begin(id, { ...options, id }, fork, known)
    }).finally(release)
  }

  /** It is over: its agent goes with the last of its sessions. */
  async closed(session: AgentSession): Promise<void> {
    if (this.#open.get(session.id) === session) this.#open.delete(session.id)
    this.#transcripts.delete(session.id)
    const tools = this.#tools.get(session.id)
    this.#tools.delete(session.id)
    await tools?.close()
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
    this.#transcripts.set(id, known)
    return known
  }
}

const preface =
  'We have talked before, and you may not remember it. This is the newest part of what was said and done; go on from there.'

function exists(id: string): VitrineError {
  return new VitrineError('session_exists', `There is a session ${id} in this sandbox already.`)
}

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
  const { permissions, limits, queue, restoreChars, mcpServers, grant } = options
  const known = { permissions, limits, queue, restoreChars, mcpServers }
  const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined))
  return {
    ...given,
    credentials: grant === 'env' || grant === 'host' ? grant : 'none',
  } as Partial<OpenOptions>
}
