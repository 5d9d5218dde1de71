import type { ConfigOption } from './sessions.ts'

/** Features of an agent from the registry; the values that a running agent reports take precedence. */
export interface AgentCapabilities {
  readonly permissions: boolean
  /** Whether its questions to the user arrive as questions; `unknown` if that was not measured. */
  readonly questions: boolean | 'unknown'
  readonly images: boolean
  readonly load: boolean
  readonly resume: boolean
  readonly fork: boolean
  readonly list: boolean
  readonly close: boolean
  readonly modes: boolean
  readonly models: boolean
  readonly thoughtLevels: boolean
  readonly mcp: boolean
  /** Whether one process serves several sessions. */
  readonly shared: boolean
}

/** One agent as lists show it. Contains no secret. */
export interface AgentInfo {
  readonly name: string
  readonly title: string
  readonly installed: boolean
  /** `builtin` needs no installation; `command` runs a program that must already be on the machine. */
  readonly from: 'npm' | 'builtin' | 'command' | 'function'
  readonly version?: string
  /** The version that `installAgent` installs by default. */
  readonly pinned?: string
  readonly path?: string
  /** Names of credentials, never values. */
  readonly credentials: { readonly present: readonly string[]; readonly accepted: readonly string[] }
  readonly capabilities: AgentCapabilities
  /** Known without starting the agent. */
  readonly options: readonly ConfigOption[]
  /** How to install it by hand, if `installAgent` cannot. */
  readonly howToGet?: string
}

export interface InstallProgress {
  readonly agent: string
  readonly step: 'download' | 'postinstall' | 'verify' | 'done'
  readonly message: string
  /** Bytes written to disk so far. */
  readonly bytes?: number
}
