import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentsOf, installAgent, listAgents, SandboxSessions } from '@vitrine/agents'
import type { Journal, Store } from '@vitrine/journal'
import {
  type AgentInfo,
  type CreateSandboxOptions,
  type InstallProgress,
  newId,
  type SandboxClient,
  VitrineError,
} from '@vitrine/protocol'
import {
  type AskAboutCommand,
  type CommandPolicy,
  createSandbox,
  type LocalOptions,
  local,
  type WorkspaceManifest,
} from '@vitrine/sandbox'
import { agentPlaces } from './agent-places.ts'
import { customInfo } from './custom-info.ts'
import { HostSandbox } from './host-sandbox.ts'
import type { Records, SandboxRecord } from './records.ts'
import { isRoot } from './settings.ts'

/** How long a close may take; what has not ended by then is ended without a word. */
const closeMs = 4_500

export interface HostCreateOptions extends CreateSandboxOptions {
  /** For sandboxes on this machine. */
  readonly local?: Omit<LocalOptions, 'data'>
  /** What a fresh sandbox is prepared with. */
  readonly workspace?: WorkspaceManifest
  readonly policy?: CommandPolicy
  readonly onAsk?: AskAboutCommand
  readonly signal?: AbortSignal
}

/** A sandbox as lists show it. */
export interface SandboxInfo {
  readonly id: string
  readonly provider: string
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: string
  /** `kept`: it is not running, and can be attached to. */
  readonly state: 'running' | 'kept' | 'destroyed'
}

export interface HostParts {
  readonly data: string
  readonly store: Store
  readonly journal: Journal
  readonly records: Records
  readonly agents: AgentsOf
  /** What every sandbox on this machine has unless it says otherwise. */
  readonly defaults: LocalOptions
  /** Lets go of the data directory. */
  release(): Promise<void>
}

/** The process that owns sandboxes, their journals and a data directory. */
export class Host implements SandboxClient, AsyncDisposable {
  readonly data: string
  readonly store: Store
  readonly #parts: HostParts
  readonly #live = new Map<string, Promise<HostSandbox>>()
  #closing: Promise<void> | undefined

  constructor(parts: HostParts) {
    this.#parts = parts
    this.data = parts.data
    this.store = parts.store
  }

  create(options: HostCreateOptions = {}): Promise<HostSandbox> {
    return this.#attempt(async () => {
      const { id = newId('sandbox'), provider = 'local', labels = {}, workspace } = options
      if (provider !== 'local')
        throw new VitrineError(
          'argument_invalid',
          `provider: expected local, got ${JSON.stringify(provider)}.`,
        )
      const known = this.#parts.records.get(id)
      if (known !== undefined || this.#live.has(id))
        throw new VitrineError(
          'sandbox_exists',
          `There is a sandbox ${id} already${known?.state === 'destroyed' ? ', and its journal stays' : ''}.`,
        )
      const record: SandboxRecord = {
        id,
        provider: 'local',
        state: 'kept',
        createdAt: new Date().toISOString(),
        labels,
        local: options.local ?? {},
        ...(workspace !== undefined && { workspace }),
      }
      return this.#raise(record, options)
    })
  }

  /** A sandbox that is here already, or was here before: it is started again with everything that was kept. */
  attach(
    id: string,
    options: Pick<HostCreateOptions, 'policy' | 'onAsk' | 'signal'> = {},
  ): Promise<HostSandbox> {
    return this.#attempt(async () => {
      const live = this.#live.get(id)
      if (live !== undefined) return live
      const record = this.#parts.records.get(id)
      if (record === undefined)
        throw new VitrineError('not_found', `There is no sandbox ${id} in ${this.data}.`)
      if (record.state === 'destroyed')
        throw new VitrineError(
          'sandbox_destroyed',
          `The sandbox ${id} was destroyed; its journal is still there.`,
        )
      mustBeTheSame(record)
      return this.#raise(record, options)
    })
  }

  list(): readonly SandboxInfo[] {
    return this.#parts.records.list().map(({ id, provider, labels, createdAt, state }) => ({
      id,
      provider,
      labels,
      createdAt,
      state: state === 'kept' && this.#live.has(id) ? 'running' : state,
    }))
  }

  /** Removes a sandbox's workspace for good. Its journal stays. */
  async destroy(id: string): Promise<void> {
    const record = this.#parts.records.get(id)
    if (record?.state === 'destroyed') return
    const sandbox = await this.attach(id)
    await sandbox.lifecycle.destroy()
  }

  listAgents(): Promise<readonly AgentInfo[]> {
    const { cache, custom, env, home } = this.#parts.agents
    return listAgents({ cache, env, home, custom: custom.map(customInfo) })
  }

  /** Installs an agent ahead of time; what it takes is in the host's journal. */
  async installAgent(
    name: string,
    options: { version?: string; onProgress?(progress: InstallProgress): void; signal?: AbortSignal } = {},
  ): Promise<{ readonly version: string; readonly path: string }> {
    const { cache, onInstall } = this.#parts.agents
    const { version, path } = await installAgent(name, {
      ...options,
      cache,
      onProgress(progress) {
        options.onProgress?.(progress)
        onInstall?.(progress)
      },
    })
    await this.#parts.journal.append([{ type: 'agent.installed', data: { agent: name, version } }])
    return { version, path }
  }

  /** Ends every sandbox's processes and lets go of the data directory. Workspaces and journals stay. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const ending = Promise.allSettled([...this.#live.values()].map(async (one) => (await one).close()))
    await Promise.race([ending, sleep(closeMs, undefined, { ref: false })])
    await this.#parts.journal.append([{ type: 'host.stopped', data: {} }]).catch(() => undefined)
    await this.#parts.release()
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new VitrineError('host_closed', 'The host is closed.')
    return work()
  }

  #raise(record: SandboxRecord, options: HostCreateOptions): Promise<HostSandbox> {
    const raising = this.#start(record, options)
    this.#live.set(record.id, raising)
    raising.catch(() => this.#live.delete(record.id))
    return raising
  }

  async #start(record: SandboxRecord, options: HostCreateOptions): Promise<HostSandbox> {
    const { store, agents, records } = this.#parts
    const { id } = record
    const engine = await createSandbox({
      id,
      store,
      provider: local(this.#localOptions(record.local)),
      ...(record.workspace !== undefined && { workspace: record.workspace }),
      ...(options.policy && { policy: options.policy }),
      ...(options.onAsk && { onAsk: options.onAsk }),
      ...(options.signal && { signal: options.signal }),
    })
    try {
      const { dev: device, ino: inode } = statSync(engine.root)
      records.put({ ...record, directory: { path: engine.root, device, inode } })
    } catch (error) {
      await engine.close()
      throw error
    }
    const journal = await store.journal(id, { source: 'host', sandbox: id })
    const sessions = new SandboxSessions({ sandbox: engine, journal, store, agents })
    return new HostSandbox(engine, sessions, () => {
      const kept = records.get(id) ?? record
      records.put({ ...kept, state: 'destroyed' })
      this.#live.delete(id)
    })
  }

  #localOptions(given: LocalOptions): LocalOptions {
    const { data, defaults, agents } = this.#parts
    const options = { ...defaults, ...given, data }
    const isolated = options.isolation !== 'none'
    const binds = isolated ? agentPlaces(agents.cache, agents.node).map((source) => ({ source })) : []
    const user = options.user ?? plainUser(options.root, agents.node)
    return {
      ...options,
      ...(binds.length > 0 && { binds: [...(options.binds ?? []), ...binds] }),
      ...(user !== undefined && { user }),
    }
  }
}

/** Without isolation a root host lets another user run commands: whoever owns the folder, or nobody. */
function plainUser(root: string | undefined, node: string): string | undefined {
  // Where others may not run Node, no agent could be started as one of them.
  if (!isRoot() || !othersMayEnter(dirname(node))) return undefined
  if (root === undefined) return 'nobody'
  const owner = statSync(root, { throwIfNoEntry: false })?.uid ?? 0
  return owner === 0 ? undefined : String(owner)
}

function othersMayEnter(folder: string): boolean {
  const open = (statSync(folder).mode & 0o001) !== 0
  return open && (folder === dirname(folder) || othersMayEnter(dirname(folder)))
}

function mustBeTheSame({ id, directory }: SandboxRecord): void {
  if (directory === undefined) return
  const there = statSync(directory.path, { throwIfNoEntry: false })
  if (there === undefined)
    throw new VitrineError(
      'sandbox_destroyed',
      `The workspace ${directory.path} of the sandbox ${id} is gone.`,
    )
  if (there.dev !== directory.device || there.ino !== directory.inode)
    throw new VitrineError(
      'sandbox_replaced',
      `${directory.path} is another directory than the one that the sandbox ${id} had.`,
    )
}
