import { type AgentConfig, type CustomAgent, can, listAgents as listKnown } from '@vitrine/agents'
import type { AgentInfo } from '@vitrine/protocol'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import { type AgentSettings, dataFoldersOf, resolveAgentConfig } from './settings.ts'

export interface HostListAgentsOptions extends Pick<AgentSettings, 'agents' | 'agentCache'> {
  /** The data directory, as for `openHost`. */
  readonly data?: string
}

/**
 * Lists the agents of a data directory, also while another host owns it: it opens and writes nothing.
 *
 * @example
 * for (const { name, installed } of await listAgents()) console.log(name, installed)
 */
export async function listAgents(options: HostListAgentsOptions = {}): Promise<readonly AgentInfo[]> {
  checkOptions('listAgents', hostOptions.listAgents, options)
  return listConfigured(resolveAgentConfig(options, dataFoldersOf(options.data)))
}

export function listConfigured({ cache, custom, env, home }: AgentConfig): Promise<readonly AgentInfo[]> {
  return listKnown({ cache, env, home, custom: custom.map(customInfo) })
}

/** Describes a custom agent. Its capabilities are only known while it runs, so the usual ones are assumed. */
function customInfo(agent: CustomAgent): AgentInfo {
  return {
    name: agent.name,
    title: agent.name,
    installed: true,
    from: 'onPrompt' in agent ? 'function' : 'command',
    credentials: { present: [], accepted: [] },
    capabilities: {
      ...can('permissions', 'images', 'mcp'),
      questions: 'unknown',
      shared: 'shared' in agent && agent.shared === true,
    },
    options: [],
  }
}
