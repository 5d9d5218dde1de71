import type { AgentCapabilities } from '@vitrine/protocol'

const nothing: AgentCapabilities = {
  permissions: false,
  images: false,
  load: false,
  resume: false,
  fork: false,
  list: false,
  close: false,
  modes: false,
  models: false,
  thoughtLevels: false,
  mcp: false,
  shared: false,
}

/**
 * An agent that can do these, and nothing else.
 *
 * @example
 * can('permissions', 'load').fork // false
 */
export function can(...these: readonly (keyof AgentCapabilities)[]): AgentCapabilities {
  return { ...nothing, ...Object.fromEntries(these.map((one) => [one, true])) }
}
