import type { ConfigOption } from './sessions.ts'

/** What an agent can do; what a running one says of itself counts more. */
export interface AgentCapabilities {
  readonly permissions: boolean
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

/** One agent as lists show it. Nothing in it is a secret. */
export interface AgentInfo {
  readonly name: string
  readonly title: string
  readonly installed: boolean
  /** `builtin` needs no installation; `command` runs a program that must be on the machine. */
  readonly from: 'npm' | 'builtin' | 'command' | 'function'
  readonly version?: string
  /** The version that an installation takes. */
  readonly pinned?: string
  readonly path?: string
  /** Names of what is there, never a value. */
  readonly credentials: { readonly present: readonly string[]; readonly wanted: readonly string[] }
  readonly capabilities: AgentCapabilities
  /** Known without running it. */
  readonly options: readonly ConfigOption[]
  /** How to get it, where an installation cannot. */
  readonly howToGet?: string
}

export interface InstallProgress {
  readonly agent: string
  readonly step: 'download' | 'postinstall' | 'verify' | 'done'
  readonly message: string
  /** Bytes on disk so far. */
  readonly bytes?: number
}
