import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { AgentConfig, CustomAgent } from '@vitrine/agents'
import type { InstallProgress } from '@vitrine/protocol'
import { readAgentsFile } from './agents-file.ts'

export interface AgentSettings {
  /** Agents of one's own, beside the known ones. */
  readonly agents?: readonly CustomAgent[]
  /** `lazy` (default): an agent that is missing is installed when it is first wanted. */
  readonly install?: 'lazy' | 'never'
  onInstall?(progress: InstallProgress): void
  /** Where agents are installed; default in the data directory. */
  readonly agentCache?: string
}

/** The places of a data directory. */
export interface DataFolders {
  readonly data: string
  readonly store: string
  readonly records: string
  readonly cache: string
}

/** Where they are, whether there is anything yet or not. */
export function dataFoldersOf(given: string | undefined): DataFolders {
  const data = resolve(given ?? defaultData())
  return { data, store: join(data, 'store'), records: join(data, 'records'), cache: join(data, 'agents') }
}

/** Of a root host agents run as another user, who must get to the sandboxes but not see the rest. */
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
  return join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'vitrine')
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

export function agentsOf(settings: AgentSettings, folders: Pick<DataFolders, 'cache' | 'data'>): AgentConfig {
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

/** For whoever has no data directory that stays: what was installed once is there the next time. */
export function sharedCache(): string {
  return join(defaultData(), 'agents')
}
