import type { AgentConfig } from '@vitrine/agents'
import type { Journal, Store } from '@vitrine/journal'
import type {
  AttachSandboxOptions,
  Command,
  CommandPolicyOptions,
  CreateSandboxOptions,
  SandboxProvider,
} from '@vitrine/protocol'
import type { ObserverErrors } from '@vitrine/protocol/primitives'
import type { AskAboutCommand, CommandPolicy, LocalOptions } from '@vitrine/sandbox'
import type { HostFloor } from './floor.ts'
import type { SandboxLives } from './life-times/sandbox-lives.ts'
import type { Records } from './records.ts'

/** The options of `create` in this process: those of every client, and functions, which cannot be sent. */
export interface HostCreateOptions extends Omit<CreateSandboxOptions, 'policy'> {
  /** Rules, compiled or not. */
  readonly policy?: CommandPolicy | CommandPolicyOptions
  /** Decides about the commands of `ask` rules. */
  readonly onAsk?: AskAboutCommand
}

/** Values that an attach gives again or replaces. Everything else is restored from the sandbox's record. */
export interface HostAttachOptions extends AttachSandboxOptions {
  /** Replaces the recorded policy. */
  readonly policy?: CommandPolicy | CommandPolicyOptions
  /** Required if the sandbox was created with one, unless `policy` is given. */
  readonly onAsk?: AskAboutCommand
  readonly hooks?: {
    /** Replaces all recorded hooks; required if one of them was a function. */
    readonly beforeStop?: readonly ((() => void | Promise<void>) | Command)[]
  }
}

export interface HostParts {
  readonly data: string
  readonly store: Store
  readonly journal: Journal
  readonly records: Records
  readonly lives: SandboxLives
  readonly agents: AgentConfig
  /** The errors of observers of the host itself. */
  readonly observerErrors: ObserverErrors
  /** Default options of every local sandbox. */
  readonly defaults: LocalOptions
  readonly floor: HostFloor
  /** The files that sinks write into the workspace of a sandbox. */
  privatePathsOf(id: string): readonly string[]
  /** The providers apart from `local`, by their names. */
  readonly providers: ReadonlyMap<string, SandboxProvider>
  /** Releases the data directory. */
  release(): Promise<void>
}
