import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { AgentConfig, CustomAgent } from '@vitrine/agents'
import type { InstallProgress } from '@vitrine/protocol'
import { readAgentsFile } from './agents-file.ts'

export interface AgentSettings {
  /** Custom agents, in addition to the built-in ones. */
  readonly agents?: readonly CustomAgent[]
  /** `lazy` (default) installs a missing agent on first use. */
  readonly install?: 'lazy' | 'never'
  onInstall?(progress: InstallProgress): void
  /** The directory that agents are installed in; default in the data directory. */
  readonly agentCache?: string
}

/** The folders of a data directory. */
export interface DataFolders {
  readonly data: string
  readonly store: string
  readonly records: string
  readonly cache: string
  /** The encrypted values to mask, and their key. Neither lies in the store's folder. */
  readonly secrets: { readonly path: string; readonly key: string }
}

/** Computes the paths; creates nothing. */
export function dataFoldersOf(given: string | undefined): DataFolders {
  const data = resolve(given ?? defaultData())
  return {
    data,
    store: join(data, 'store'),
    records: join(data, 'records'),
    cache: join(data, 'agents'),
    secrets: { path: join(data, 'secrets.jsonl'), key: join(data, 'keys', 'secrets.key') },
  }
}

/** Creates the folders. Mode 0711: agents of a root host run as another user, who must enter but not list them. */
export function openDataFolders(given: string | undefined): DataFolders {
  const path = dataFoldersOf(given).data
  mkdirSync(path, { recursive: true, mode: 0o711 })
  const folders = dataFoldersOf(realpathSync(path))
  mkdirSync(folders.store, { recursive: true, mode: 0o700 })
  if (isRoot() && (statSync(folders.data).mode & 0o011) === 0) chmodSync(folders.data, 0o711)
  return folders
}

function defaultData(): string {
  if (isRoot()) return '/var/lib/vitrine'
  return join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'vitrine')
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

export function resolveAgentConfig(
  settings: AgentSettings,
  folders: Pick<DataFolders, 'cache' | 'data'>,
): AgentConfig {
  const { agents = [], install = 'lazy', onInstall, agentCache } = settings
  const named = new Set(agents.map(({ name }) => name))
  const fromFile = readAgentsFile(join(folders.data, 'agents.json')).filter(({ name }) => !named.has(name))
  return {
    custom: [...agents, ...fromFile],
    cache: agentCache ?? folders.cache,
    env: process.env,
    home: homedir(),
    node: realpathSync(process.execPath),
    install,
    ...(onInstall && { onInstall: (progress) => onInstall(progress) }),
  }
}

/** The install directory for hosts with a temporary data directory, so that agents are installed once. */
export function sharedCache(): string {
  return join(defaultData(), 'agents')
}
