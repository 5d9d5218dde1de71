import { type AgentConfig, listAgents as listKnown } from '@vitrine/agents'
import type { AgentInfo } from '@vitrine/protocol'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import { customInfo } from './custom-info.ts'
import { type AgentSettings, agentsOf, dataFoldersOf } from './settings.ts'

export interface ListAgentsOptions extends Pick<AgentSettings, 'agents' | 'agentCache'> {
  /** The data directory, as for `openHost`. */
  readonly data?: string
}

/**
 * The agents that a host on a data directory has, also while another host owns it: nothing is opened or written.
 *
 * @example
 * for (const { name, installed } of await listAgents()) console.log(name, installed)
 */
export async function listAgents(options: ListAgentsOptions = {}): Promise<readonly AgentInfo[]> {
  checkOptions('listAgents', hostOptions.listAgents, options)
  return listConfigured(agentsOf(options, dataFoldersOf(options.data)))
}

export function listConfigured({ cache, custom, env, home }: AgentConfig): Promise<readonly AgentInfo[]> {
  return listKnown({ cache, env, home, custom: custom.map(customInfo) })
}
