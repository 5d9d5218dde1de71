/** The folder where `scripts/test-agents.ts` installs the agents. */
export const agentCache = process.env.VITRINE_AGENT_CACHE ?? '/var/lib/vitrine/agents'

/** Agents that could not be installed here. */
export const missing: readonly string[] = (process.env.VITRINE_AGENTS_MISSING ?? '')
  .split(',')
  .filter((name) => name !== '')

/** The API key that agents send to the model. */
export const modelKey = 'dummy-key-1234'
