import type { AgentCapabilities, ConfigOption } from '@vitrine/protocol'

/** A known agent, as data without code. `{url}`, `{key}`, `{model}` and `{home}` are placeholders. */
export interface AgentEntry {
  readonly name: string
  readonly title: string
  /** Other names of the agent. */
  readonly aliases?: readonly string[]
  readonly source: NpmSource | CommandSource | BuiltinSource
  /** Variables that are always set for the agent. */
  readonly env: Readonly<Record<string, string>>
  readonly credentials: {
    /** Any one of these is sufficient; empty for an agent that needs none. */
    readonly variables: readonly string[]
    /** Login files, relative to HOME. */
    readonly files: readonly string[]
    /** Passed along if present, but not sufficient to log in and not mentioned in error messages. */
    readonly alongside?: {
      readonly variables?: readonly string[]
      readonly files?: readonly string[]
    }
  }
  /** `host:port` destinations that the agent needs. */
  readonly endpoints: readonly string[]
  /** How to make the agent use another model endpoint; absent if unsupported. */
  readonly modelEndpoint?: {
    readonly dialect: 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini'
    /** Appended to the endpoint's URL for `{url}`, such as `/v1`. */
    readonly path: string
    readonly env: Readonly<Record<string, string>>
    /** Files to write, relative to HOME. */
    readonly files: Readonly<Record<string, string>>
    readonly defaultModel?: string
  }
  readonly isolation: {
    /** The agent refuses to run as root. */
    readonly notRoot: boolean
    /** Settings that disable the agent's own sandbox inside ours. */
    readonly innerSandboxOff?: {
      readonly env?: Readonly<Record<string, string>>
      readonly files?: Readonly<Record<string, string>>
      readonly mode?: string
    }
  }
  readonly capabilities: AgentCapabilities
  /** Options that are known without running the agent. */
  readonly options: readonly ConfigOption[]
  readonly quirks: AgentQuirks
}

export interface NpmSource {
  readonly kind: 'npm'
  /** The first package contains the program that speaks ACP. */
  readonly packages: readonly { readonly name: string; readonly version: string }[]
  /** A script that must run after the download, relative to the installation's folder. */
  readonly postinstall?: string
  /** A script for Node or an executable, relative to the installation's folder. */
  readonly run: { readonly with: 'node' | 'itself'; readonly path: string; readonly args: readonly string[] }
}

export interface CommandSource {
  readonly kind: 'command'
  readonly command: readonly string[]
  readonly howToGet: string
}

/** An agent that is a script of this package. */
export interface BuiltinSource {
  readonly kind: 'builtin'
  readonly script: string
}

export interface AgentQuirks {
  /** The client offers no file methods, because the agent fails when it writes a new file through them. */
  readonly noFiles?: true
  /** Regular expression for messages of the agent that report a model error. */
  readonly errorMessage?: string
  /** Minimum age of a session that the agent can load. */
  readonly loadsAfterMs?: number
  /** Other known facts, for people. */
  readonly notes: readonly string[]
}
