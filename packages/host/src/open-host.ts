import { join } from 'node:path'
import {
  memoryStore,
  openStore,
  type Store,
  type StoreDriver,
  secretsFile,
  sqliteStore,
} from '@vitrine/journal'
import { type EventInput, type HostProvider, VitrineError, version } from '@vitrine/protocol'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import { ObserverErrors } from '@vitrine/protocol/primitives'
import { killOrphans, ownTemporaryData, unmountLeftVolumes, unmountVolumesOfDead } from '@vitrine/sandbox'
import { orDiskFull } from './disk-full.ts'
import type { HostFloor } from './floor.ts'
import { Host } from './host.ts'
import type { HostParts } from './host-parts.ts'
import { addSinks, type JournalingOptions, privatePathsOf, storeOptionsOf } from './journaling.ts'
import { SandboxLives } from './life-times/sandbox-lives.ts'
import { LiveSandboxes } from './live-sandboxes.ts'
import { lastingDefaults } from './new-record.ts'
import { type DamagedRecord, Records } from './records.ts'
import { type AgentSettings, type DataFolders, openDataFolders, resolveAgentConfig } from './settings.ts'
import { WorkspaceWriter } from './workspace-writer.ts'

export interface OpenHostOptions extends AgentSettings, JournalingOptions {
  /** The data directory; default `~/.local/share/vitrine`, for root `/var/lib/vitrine`. */
  readonly data?: string
  /** Providers of sandboxes, with default options; default `[local()]`. */
  readonly providers?: readonly HostProvider[]
  /** The store of the journals; default one SQLite file in the data directory. */
  readonly store?: StoreDriver
  /** Takes the data directory over from another host, which ends everything it runs. */
  readonly takeover?: boolean
  /**
   * Opens although the stored values to mask cannot be read, and forgets those: earlier credentials are then not masked
   * any more. Default false: opening fails with `secrets_unreadable`.
   */
  readonly forgetUnreadableSecrets?: boolean
  /** The least that every sandbox must have, whoever creates or attaches it; default nothing. */
  readonly floor?: HostFloor
}

/**
 * Opens a data directory: kills processes and closes open work that a dead host left, and offers its sandboxes.
 *
 * @example
 * await using host = await openHost({ data: './data' })
 * const sandbox = await host.create()
 */
export async function openHost(options: OpenHostOptions = {}): Promise<Host> {
  checkOptions('openHost', hostOptions.open, options)
  const { floor = {} } = options
  const providers = parted(options.providers)
  const folders = orDiskFull(options.data ?? 'the data directory', () => openDataFolders(options.data))
  const agents = resolveAgentConfig(options, folders)
  const driver = options.store ?? sqliteStore({ path: join(folders.store, 'journal.db') })
  const store = await openStore(driver, {
    killOrphans: (open) => killOrphans(open, folders.data),
    secrets: secretsFile({
      ...folders.secrets,
      forgetUnreadable: options.forgetUnreadableSecrets ?? false,
    }),
    ...(options.takeover && { takeover: true }),
    ...storeOptionsOf(options),
  })
  return createHost(store, folders, { ...options, agents, floor, ...providers })
}

async function createHost(
  store: Store,
  { data, records: folder }: DataFolders,
  {
    agents: config,
    defaults,
    providers,
    floor,
    release = () => store.close(),
    ...journaling
  }: Pick<HostParts, 'agents' | 'defaults' | 'providers' | 'floor'> &
    Partial<Pick<HostParts, 'release'>> &
    JournalingOptions,
): Promise<Host> {
  try {
    // Read after the store is owned: until then its last owner may write records.
    const records = new Records(folder, lastingDefaults(defaults))
    const live = new LiveSandboxes(data)
    await addSinks(store, journaling, new WorkspaceWriter(records, live))
    // The volumes of sandboxes that a dead host left mounted; each is mounted again when its sandbox starts.
    await unmountLeftVolumes(data)
    await unmountVolumesOfDead()
    // A host that died while it destroyed a sandbox left its secrets.
    for (const { id, state } of records.list()) if (state === 'destroyed') store.forgetSecretsOf(id)
    const journal = await store.journal('host', { source: 'host' })
    const stopped = records.list().filter(({ state }) => state === 'stopped').length
    const started = { version, pid: process.pid, data, stopped, ...damagedData(records.damaged) }
    await journal.append([{ type: 'host.started', data: started }, ...records.damaged.map(damageMessage)])
    const observerErrors = new ObserverErrors({
      onObserverError: journaling.onObserverError,
      log: (event) => journal.append([{ ...event, derived: true }]),
    })
    const agents = installingAbove({ agents: config, floor })
    const { onInstall } = agents
    const installing = {
      ...agents,
      ...(onInstall && { onInstall: observerErrors.guard('onInstall', onInstall) }),
    }
    const lives = new SandboxLives({ store, journal })
    return new Host(
      {
        ...{ data, records, lives, store, journal, defaults, providers, floor, observerErrors, release },
        agents: installing,
        privatePathsOf: (id) => privatePathsOf(journaling, id),
      },
      live,
    )
  } catch (error) {
    await store.close()
    throw error
  }
}

/** An installation runs programs of a package, so the host's floor holds for it too. */
function installingAbove({ agents, floor }: Pick<HostParts, 'agents' | 'floor'>): HostParts['agents'] {
  return floor.isolation === undefined ? agents : { ...agents, installIsolation: floor.isolation }
}

function damagedData(damaged: readonly DamagedRecord[]): { readonly damaged?: readonly string[] } {
  return damaged.length === 0 ? {} : { damaged: damaged.map(({ id }) => id) }
}

function damageMessage({ id, error: { code, message } }: DamagedRecord): EventInput {
  return { type: 'log.message', data: { level: 'error', message, sandbox: id, errorCode: code } }
}

/** The default options of local sandboxes, and the other providers by their names. */
function parted(providers: readonly HostProvider[] = []): Pick<HostParts, 'defaults' | 'providers'> {
  const names = providers.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined)
    throw new VitrineError(
      'argument_invalid',
      `providers: expected one provider of each name, got ${twice} twice.`,
    )
  const engine = providers.find((provider) => 'options' in provider)
  const others = providers.filter((provider) => 'create' in provider)
  return {
    defaults: engine?.options ?? {},
    providers: new Map(others.map((provider) => [provider.name, provider])),
  }
}

/** Opens a host whose journals are in memory, on a temporary data directory. `release` ends its store. */
export async function openMemoryHost(
  data: string,
  options: Omit<OpenHostOptions, 'data' | 'store' | 'takeover' | 'forgetUnreadableSecrets'>,
  release: (store: Store) => Promise<void>,
): Promise<Host> {
  const folders = openDataFolders(data)
  ownTemporaryData(folders.data)
  const agents = resolveAgentConfig(options, folders)
  const store = await openStore(memoryStore(), storeOptionsOf(options))
  const { floor = {} } = options
  const providers = parted(options.providers)
  return createHost(store, folders, {
    ...options,
    agents,
    floor,
    ...providers,
    release: () => release(store),
  })
}
