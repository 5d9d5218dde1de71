import type { AgentConfig } from '@vitrine/agents'
import type { Journal, Store } from '@vitrine/journal'
import type { CreateSandboxOptions } from '@vitrine/protocol'
import type { ObserverErrors } from '@vitrine/protocol/primitives'
import type { AskAboutCommand, CommandPolicy, LocalOptions, WorkspaceManifest } from '@vitrine/sandbox'
import type { Records } from './records.ts'

export interface HostCreateOptions extends CreateSandboxOptions {
  /** Options of the local provider. */
  readonly local?: Omit<LocalOptions, 'data'>
  /** Contents of a new workspace. */
  readonly workspace?: WorkspaceManifest
  readonly policy?: CommandPolicy
  readonly onAsk?: AskAboutCommand
  readonly signal?: AbortSignal
}

export interface HostParts {
  readonly data: string
  readonly store: Store
  readonly journal: Journal
  readonly records: Records
  readonly agents: AgentConfig
  /** The errors of observers of the host itself. */
  readonly observerErrors: ObserverErrors
  /** Default options of every local sandbox. */
  readonly defaults: LocalOptions
  /** Releases the data directory. */
  release(): Promise<void>
}
