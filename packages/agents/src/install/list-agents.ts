import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import type { AgentInfo } from '@vitrine/protocol'
import { agentOptions, checkOptions } from '@vitrine/protocol/options'
import { credentialsAccepted, credentialsPresent } from '../credentials/present.ts'
import { builtinScript } from '../registry/builtin-script.ts'
import type { AgentEntry } from '../registry/entry.ts'
import { findCommand } from '../registry/find-command.ts'
import { knownAgents } from '../registry/known-agents.ts'
import { installed } from './installation.ts'

export interface ListAgentsOptions {
  /** Directory of the installations. */
  readonly cache: string
  /** Custom agents, listed first: as registry entries, or as finished list items. */
  readonly custom?: readonly (AgentEntry | AgentInfo)[]
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly home?: string
}

type InstallState = Pick<AgentInfo, 'installed' | 'from' | 'version' | 'pinned' | 'path' | 'howToGet'>

/**
 * Lists all agents, whether each is installed, and which of its credentials exist. Runs nothing and returns no values.
 *
 * @example
 * for (const { name, installed } of await listAgents({ cache })) console.log(name, installed)
 */
export async function listAgents(options: ListAgentsOptions): Promise<AgentInfo[]> {
  checkOptions('listAgents', agentOptions.list, options)
  const { cache, custom = [], env = process.env, home = homedir() } = options
  const customNames = new Set(custom.map(({ name }) => name))
  const all = [...custom, ...knownAgents.filter(({ name }) => !customNames.has(name))]
  // One read instead of one per agent: a daemon lists its agents when it starts, and most are not installed.
  const folders = new Set(await readdir(cache).catch(() => []))
  const machine = { cache, folders, env, home }
  return Promise.all(all.map((agent) => ('source' in agent ? infoOf(agent, machine) : agent)))
}

interface SearchedMachine extends Required<Omit<ListAgentsOptions, 'custom'>> {
  /** The names in the directory of the installations. */
  readonly folders: ReadonlySet<string>
}

async function infoOf(entry: AgentEntry, machine: SearchedMachine): Promise<AgentInfo> {
  const { name, title, capabilities, options } = entry
  return {
    name,
    title,
    ...(await installState(entry, machine)),
    credentials: { present: credentialsPresent(entry, machine), accepted: credentialsAccepted(entry) },
    capabilities,
    options,
  }
}

async function installState(
  { name, source }: AgentEntry,
  { cache, folders, env }: SearchedMachine,
): Promise<InstallState> {
  switch (source.kind) {
    case 'builtin':
      return { from: 'builtin', installed: true, path: builtinScript(source) }
    case 'command': {
      const path = findCommand(source.command[0] ?? '', env.PATH)
      const { howToGet } = source
      return { from: 'command', installed: path !== undefined, ...(path && { path }), howToGet }
    }
    case 'npm': {
      const found = folders.has(name) ? await installed(cache, name) : undefined
      const pinned = source.packages[0]?.version
      return {
        from: 'npm',
        installed: found !== undefined,
        ...(found && { version: found.version, path: found.path }),
        ...(pinned !== undefined && { pinned }),
      }
    }
  }
}
