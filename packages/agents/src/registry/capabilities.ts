import type { AgentCapabilities } from '@vitrine/protocol'

const none: AgentCapabilities = {
  permissions: false,
  questions: false,
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
 * Capabilities in which only the named ones are true.
 *
 * @example
 * can('permissions', 'load').fork // false
 */
export function can(...names: readonly (keyof AgentCapabilities)[]): AgentCapabilities {
  return { ...none, ...Object.fromEntries(names.map((name) => [name, true])) }
}
