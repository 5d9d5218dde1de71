import type { InstallProgress } from '@vitrine/protocol'
import type { Isolation } from '@vitrine/sandbox'
import type { CustomAgent } from '../../registry/custom-agent.ts'

/** The agents of a host, and where it installs and runs them. */
export interface AgentConfig {
  readonly custom: readonly CustomAgent[]
  /** The directory in which agents are installed. */
  readonly cache: string
  /** The host's own environment and HOME, the source of granted credentials. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  /** Path of the Node that runs agents, as the sandbox sees it. */
  readonly node: string
  /** Whether a missing agent is installed when a session first needs it. */
  readonly install: 'lazy' | 'never'
  /** Isolation of installations; default `auto`. */
  readonly installIsolation?: Isolation
  onInstall?(progress: InstallProgress): void
}
