import type { Store } from '@vitrine/journal'
import {
  type AgentInfo,
  type HostCallContext,
  type InstallProgress,
  type ListSandboxesOptions,
  type Pruned,
  type PruneOptions,
  type SandboxClient,
  type SandboxInfo,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import { cancelled, fitsFilter } from '@vitrine/protocol/primitives'
import type { SandboxRecord } from '@vitrine/protocol/records'
import { DiskBytes } from './disk-bytes.ts'
import type { HostAttachOptions, HostCreateOptions, HostParts } from './host-parts.ts'
import type { DestroyReason, HostSandbox } from './host-sandbox.ts'
import { lifeTimesOf } from './life-times/life-times-of.ts'
import { withLimitsAsGiven } from './limits-as-given.ts'
import { listConfigured } from './list-agents.ts'
import type { LiveSandboxes } from './live-sandboxes.ts'
import { HostLook } from './looking/host-look.ts'
import { newRecord } from './new-record.ts'
import { prune } from './prune.ts'
import type { DamagedRecord } from './records.ts'
import { type RestoredRecord, restoreRecord } from './restore-record.ts'
import { assertSecretsGiven, namedSecrets, otherSecrets } from './sandbox-secrets.ts'
import {
  assertSameWorkspace,
  assertWorkspaceExists,
  completedFromJournal,
  destroyStopped,
} from './stored-sandbox.ts'
import { refuseUntakenByAttach } from './untaken-options.ts'

/** The process that owns sandboxes, their journals and a data directory. */
export class Host implements SandboxClient, AsyncDisposable {
  readonly data: string
  readonly store: Store
  readonly #parts: HostParts
  readonly #live: LiveSandboxes
  /** Stopped sandboxes whose removal is in progress. */
  readonly #destroying = new Map<string, Promise<void>>()
  readonly #installing = new Set<Promise<unknown>>()
  /** Aborted when the host closes, to cancel starts and installs that are in progress. */
  readonly #closeSignal = new AbortController()
  readonly #diskBytes: DiskBytes
  #closing: Promise<void> | undefined

  constructor(parts: HostParts, live: LiveSandboxes) {
    this.#parts = parts
    this.data = parts.data
    this.#live = live
    this.store = parts.store
    this.#diskBytes = new DiskBytes(parts.data, this.#closeSignal.signal)
    parts.lives.open(parts.records.list(), (id) => this.#destroy(id, {}, 'ttl'))
  }

  /** The context of the call is recorded with the start. `labels` are those that only Vitrine may set: `vitrine.…`. */
  async create(
    options: HostCreateOptions = {},
    context?: HostCallContext,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<HostSandbox> {
    checkOptions('create', hostOptions.create, options)
    this.#assertOpen()
    if (options.signal?.aborted) throw cancelled(options.signal)
    const { records } = this.#parts
    const record = newRecord(this.#parts, options, labels)
    const { id } = record
    if (records.has(id) || this.#live.has(id)) {
      const destroyed = this.info(id)?.state === 'destroyed'
      throw new VitrineError(
        'sandbox_exists',
        `There is a sandbox ${id} already${destroyed ? ': it was destroyed, but its journal stays' : ''}.`,
      )
    }
    // Written before the start, so that the next host finds the sandbox if this one is killed meanwhile.
    records.put(record)
    try {
      const sandbox = await this.#create(record, options, context)
      // Not earlier: a creation in progress cannot be destroyed.
      this.#parts.lives.add(record)
      return sandbox
    } catch (error) {
      // One that its provider could not remove stays on record, to be destroyed later.
      if (records.get(id)?.providerId === undefined) {
        records.remove(id)
        this.#parts.lives.remove(id)
        this.store.forgetSecretsOf(id)
      }
      throw error
    }
  }

  /**
   * Returns a sandbox of this host. A stopped one, also of an earlier host, is started as its record says: with its
   * workspace, its restrictions and its hooks. What the record cannot hold, a function, has to be given again.
   */
  async attach(id: string, given: HostAttachOptions = {}, context?: HostCallContext): Promise<HostSandbox> {
    checkOptions('attach', hostOptions.attach, given)
    this.#assertOpen()
    const { secrets = {} } = given
    const { provider = 'local' } = this.#parts.records.get(id) ?? {}
    if (provider !== 'local') refuseUntakenByAttach(provider, given)
    const sandbox = this.#live.has(id) ? await this.#live.open(id) : undefined
    if (sandbox?.isUp) {
      this.#assertUnchanged(id, given)
      await sandbox.as(context ?? {}).replaceSecrets(secrets)
      return sandbox
    }
    this.#assertOpen()
    const stored = this.#existingRecord(id)
    assertWorkspaceExists(stored, this.#parts.data)
    assertSameWorkspace(stored, this.#parts.data)
    if (sandbox !== undefined && !replaces(given)) {
      const called = sandbox.as(context ?? {})
      await called.replaceSecrets(secrets)
      await called.lifecycle.start()
      return sandbox
    }
    assertSecretsGiven(stored, given)
    const { record, changes } = restoreRecord(stored, given)
    const forget = this.store.addSecrets(otherSecrets(record, given), { sandbox: id })
    try {
      // Last, so that a refused attach loses nothing of the sandbox that this host has.
      await sandbox?.close()
      const started = await this.#start(record, given, context, changes)
      // A start that another caller began has the options of that caller.
      this.#assertUnchanged(id, given)
      await started.as(context ?? {}).replaceSecrets(secrets)
      return started
    } catch (error) {
      forget()
      throw error
    }
  }

  /** Returns a live sandbox in any state; a stopped one of an earlier host is started. */
  async find(id: string, context?: HostCallContext): Promise<HostSandbox> {
    this.#assertOpen()
    return (await this.#live.open(id)) ?? this.attach(id, {}, context)
  }

  /** As `find`, but starts nothing: a stopped sandbox of an earlier host is refused. */
  async findStarted(id: string): Promise<HostSandbox> {
    this.#assertOpen()
    const sandbox = await this.#live.open(id)
    if (sandbox !== undefined && !sandbox.isAutoStopped) return sandbox
    this.#existingRecord(id)
    throw new VitrineError(
      'sandbox_not_running',
      `The sandbox ${id} is stopped, and looking does not start it.`,
    )
  }

  async list(options: ListSandboxesOptions = {}): Promise<readonly SandboxInfo[]> {
    checkOptions('list', hostOptions.list, options)
    const infos = this.infos().filter((info) => fitsFilter(info, options))
    return options.disk ? Promise.all(infos.map((info) => this.withDiskBytes(info))) : infos
  }

  /** Measures the disk space of a sandbox, without starting it. */
  async withDiskBytes(info: SandboxInfo): Promise<SandboxInfo> {
    const record = info.error === undefined ? this.#parts.records.get(info.id) : undefined
    const diskBytes = record && (await this.#diskBytes.used(record))
    return diskBytes === undefined ? info : { ...info, diskBytes }
  }

  /** Those of `list({ state: 'all' })`, without waiting. */
  infos(): readonly SandboxInfo[] {
    const { records } = this.#parts
    return [...records.list().map((record) => this.#infoOf(record)), ...records.damaged.map(damagedInfo)]
  }

  /** One of them. With thousands of sandboxes it costs less than the list. */
  info(id: string): SandboxInfo | undefined {
    const { records } = this.#parts
    const damaged = records.damagedOf(id)
    if (damaged !== undefined) return damagedInfo(damaged)
    const record = records.get(id)
    return record && this.#infoOf(record)
  }

  /** Reads a sandbox in any state, also a destroyed one. Starts nothing and writes nothing. */
  async look(id: string): Promise<HostLook> {
    const isKnown = this.info(id) !== undefined || (await this.store.journals()).includes(id)
    // Opening the journal of an unknown id would create one.
    if (!isKnown) throw new VitrineError('not_found', `There is no sandbox ${id} in ${this.data}.`)
    return new HostLook(await this.store.journal(id), () => this.#live.up(id))
  }

  #infoOf(record: SandboxRecord): SandboxInfo {
    const { id, provider, labels, createdAt, state } = record
    const isUp = state === 'stopped' && this.#live.isUp(id)
    return { id, provider, labels, createdAt, state: isUp ? 'running' : state, ...lifeTimesOf(record) }
  }

  /** Removes a sandbox's workspace for good. Its journal stays. */
  destroy(id: string, context: HostCallContext = {}): Promise<void> {
    return this.#destroy(id, context)
  }

  /** Destroys the stopped sandboxes that fit the options, and running ones if they say so. Their journals stay. */
  async prune(options: PruneOptions, context: HostCallContext = {}): Promise<Pruned> {
    checkOptions('prune', hostOptions.prune, options)
    this.#assertOpen()
    return prune(
      {
        infos: () => this.infos(),
        info: (id) => this.info(id),
        isStarting: (id) => this.#live.isStarting(id),
        journal: (id) => this.store.journal(id),
        ownBytes: async (id) => {
          const record = this.#parts.records.get(id)
          return record && this.#diskBytes.own(record)
        },
        destroy: (id) => this.#destroy(id, context, 'prune'),
      },
      options,
    )
  }

  async #destroy(id: string, context: HostCallContext, reason?: DestroyReason): Promise<void> {
    this.#assertOpen()
    if (this.#parts.records.get(id)?.state === 'destroyed') return
    const sandbox = this.#live.has(id) ? await this.#live.open(id).catch(() => undefined) : undefined
    if (sandbox !== undefined) return sandbox.as(context).lifecycle.destroy(reason)
    const removing =
      this.#destroying.get(id) ??
      this.#destroyStopped(this.#existingRecord(id), context, reason).finally(() =>
        this.#destroying.delete(id),
      )
    this.#destroying.set(id, removing)
    return removing
  }

  async #destroyStopped(
    record: SandboxRecord,
    context: HostCallContext,
    reason: DestroyReason | undefined,
  ): Promise<void> {
    if (record.provider === 'local') return destroyStopped(this.#parts, record, context, reason)
    const { destroyProvided } = await import('./provided/start-provided.ts')
    await destroyProvided(this.#parts, record, { signal: this.#closeSignal.signal, context })
  }

  listAgents(): Promise<readonly AgentInfo[]> {
    return listConfigured(this.#parts.agents)
  }

  /** Installs an agent ahead of time and records `agent.installed` in the host's journal. */
  async installAgent(
    name: string,
    options: { version?: string; onProgress?(progress: InstallProgress): void; signal?: AbortSignal } = {},
    context: HostCallContext = {},
  ): Promise<{ readonly version: string; readonly path: string }> {
    checkOptions('installAgent', hostOptions.installAgent, options)
    this.#assertOpen()
    const { installAgent } = await import('./installing.ts')
    const { agents, observerErrors } = this.#parts
    const { cache, installIsolation: isolation = 'auto', onInstall } = agents
    const onProgress = observerErrors.guard('onProgress', (progress: InstallProgress) =>
      options.onProgress?.(progress),
    )
    const installing = installAgent(name, {
      ...options,
      cache,
      isolation,
      signal: this.#signalWith(options.signal),
      onProgress(progress) {
        onProgress(progress)
        return onInstall?.(progress)
      },
    }).finally(() => this.#installing.delete(installing))
    this.#installing.add(installing)
    const { version, path } = await installing
    await this.#parts.journal
      .as(context)
      .append([{ type: 'agent.installed', data: { agent: name, version } }])
    return { version, path }
  }

  /** Stops every sandbox's processes and releases the data directory. Workspaces and journals stay. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#parts.lives.close()
    this.#closeSignal.abort(hostClosed())
    await this.#live.closeAll([...this.#installing, ...this.#destroying.values()])
    await this.#parts.journal.append([{ type: 'host.stopped', data: {} }]).catch(() => undefined)
    await this.#parts.release()
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw hostClosed()
  }

  #signalWith(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined
      ? this.#closeSignal.signal
      : AbortSignal.any([signal, this.#closeSignal.signal])
  }

  /** A record of an earlier version, with what only the journal knows. */
  async #completed(record: SandboxRecord, changes: RestoredRecord['changes']): Promise<SandboxRecord> {
    return completedFromJournal(this.store, await withLimitsAsGiven(this.store, record), changes)
  }

  #existingRecord(id: string): SandboxRecord {
    const record = this.#parts.records.get(id)
    if (record === undefined)
      throw new VitrineError('not_found', `There is no sandbox ${id} in ${this.data}.`)
    if (record.state === 'destroyed' || this.#destroying.has(id))
      throw new VitrineError(
        'sandbox_destroyed',
        `The sandbox ${id} was destroyed; its journal is still there.`,
      )
    return record
  }

  /** Throws if `given` would change a sandbox that runs. */
  #assertUnchanged(id: string, given: HostAttachOptions): void {
    if (!replaces(given)) return
    const changed = Object.keys(restoreRecord(this.#existingRecord(id), given).changes)
    if (changed.length > 0)
      throw new VitrineError(
        'sandbox_running',
        `The sandbox ${id} runs with another ${changed.join(', ')} than given.`,
      )
  }

  async #create(
    record: SandboxRecord,
    options: HostCreateOptions,
    context: HostCallContext | undefined,
  ): Promise<HostSandbox> {
    if (record.provider === 'local') return this.#start(record, options, context)
    const { createProvided } = await import('./provided/start-provided.ts')
    this.store.addSecrets(options.secrets ?? {}, { sandbox: record.id })
    return this.#live.boot(record.id, (onClosed) =>
      createProvided(this.#parts, record, options, this.#providedStart(options, context, onClosed)),
    )
  }

  #providedStart(
    { signal }: { readonly signal?: AbortSignal },
    context: HostCallContext | undefined,
    onClosed: () => void,
  ) {
    return { signal: this.#signalWith(signal), hostClosing: this.#closeSignal.signal, context, onClosed }
  }

  /** `changes` of its record are recorded as an operation that includes the start. */
  #start(
    record: SandboxRecord,
    options: HostCreateOptions & HostAttachOptions,
    context: HostCallContext | undefined,
    changes: RestoredRecord['changes'] = {},
  ): Promise<HostSandbox> {
    const signal = this.#signalWith(options.signal)
    return this.#live.boot(record.id, async (onClosed) => {
      if (record.provider !== 'local') {
        const { openProvided } = await import('./provided/start-provided.ts')
        return openProvided(this.#parts, record, this.#providedStart(options, context, onClosed))
      }
      // Imported on first use: the engine and the agents are most of the code, and a host that only reads needs neither.
      const { startSandbox } = await import('./start-sandbox.ts')
      const { workspace, onAsk, hooks, allowDegraded } = options
      const secrets = namedSecrets(record, options)
      const start = async () =>
        startSandbox(this.#parts, await this.#completed(record, changes), {
          ...(workspace && { workspace }),
          ...(onAsk && { onAsk }),
          ...(secrets && { secrets }),
          ...(hooks && { hooks }),
          ...(allowDegraded && { allowDegraded }),
          ...(context && { context }),
          signal,
          onClosed,
        })
      if (Object.keys(changes).length === 0) return start()
      const journal = await this.store.journal(record.id, { source: 'host', sandbox: record.id })
      return journal.as(context ?? {}).operate('attach', changes, start)
    })
  }
}

/** Whether the options replace a part of the record, or give a function again. */
function replaces({ policy, onAsk, hooks, isolation }: HostAttachOptions): boolean {
  return [policy, onAsk, hooks?.beforeStop, isolation].some((given) => given !== undefined)
}

function damagedInfo({ id, changedAt, error: { code, message } }: DamagedRecord): SandboxInfo {
  return {
    id,
    provider: 'local',
    labels: {},
    createdAt: changedAt,
    state: 'stopped',
    error: { code, message },
  }
}

function hostClosed(): VitrineError {
  return new VitrineError('host_closed', 'The host is closed.')
}
