import { type CustomAgent, can } from '@vitrine/agents'
import type { AgentInfo } from '@vitrine/protocol'

/** An agent of one's own as lists show it; what it can do is known when it runs. */
export function customInfo(agent: CustomAgent): AgentInfo {
  return {
    name: agent.name,
    title: agent.name,
    installed: true,
    from: 'onPrompt' in agent ? 'function' : 'command',
    credentials: { present: [], wanted: [] },
    capabilities: {
      ...can('permissions', 'images', 'mcp'),
      shared: 'shared' in agent && agent.shared === true,
    },
    options: [],
  }
}
