import type { AgentCapabilities, ConfigOption } from '@vitrine/protocol'

/** One agent that is known, as data: nothing here is code. `{url}`, `{key}`, `{model}`, `{home}` are filled in. */
export interface AgentEntry {
  readonly name: string
  readonly title: string
  /** Other names for the same. */
  readonly aliases?: readonly string[]
  readonly source: NpmSource | CommandSource | BuiltinSource
  /** What it is started with, always. */
  readonly env: Readonly<Record<string, string>>
  readonly credentials: {
    /** Any one of these is enough; none for an agent that needs nothing. */
    readonly variables: readonly string[]
    /** Login files, from HOME. */
    readonly files: readonly string[]
    /** Goes along where it is there: no way in by itself, and named in no advice. */
    readonly alongside?: {
      readonly variables?: readonly string[]
      readonly files?: readonly string[]
    }
  }
  /** Hosts and ports that it must reach. */
  readonly endpoints: readonly string[]
  /** How it is pointed at another model endpoint; absent where that is not known. */
  readonly modelEndpoint?: {
    readonly dialect: 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini'
    /** What `{url}` ends with, such as `/v1`. */
    readonly path: string
    readonly env: Readonly<Record<string, string>>
    /** Files in HOME. */
    readonly files: Readonly<Record<string, string>>
    readonly defaultModel?: string
  }
  readonly isolation: {
    /** It refuses to run as root. */
    readonly notRoot: boolean
    /** It brings a sandbox of its own; these switch it off inside ours. */
    readonly innerSandboxOff?: {
      readonly env?: Readonly<Record<string, string>>
      readonly files?: Readonly<Record<string, string>>
      readonly mode?: string
    }
  }
  readonly capabilities: AgentCapabilities
  /** Known without running it. */
  readonly options: readonly ConfigOption[]
  readonly quirks: AgentQuirks
}

export interface NpmSource {
  readonly kind: 'npm'
  /** The first one is the program that speaks the protocol. */
  readonly packages: readonly { readonly name: string; readonly version: string }[]
  /** A script that must run after the download, from the installation's folder. */
  readonly postinstall?: string
  /** A script for Node or a program, from the installation's folder. */
  readonly run: { readonly with: 'node' | 'itself'; readonly path: string; readonly args: readonly string[] }
}

export interface CommandSource {
  readonly kind: 'command'
  readonly command: readonly string[]
  readonly howToGet: string
}

/** Part of this package: a script beside it. */
export interface BuiltinSource {
  readonly kind: 'builtin'
  readonly script: string
}

export interface AgentQuirks {
  /** Files are not offered to it: it fails on what is not there yet. */
  readonly noFiles?: true
  /** Its message is an error of the model when it looks like this (a regular expression). */
  readonly errorMessage?: string
  /** What it loads must be older than so long. */
  readonly loadsAfterMs?: number
  /** For people: what else is known. */
  readonly notes: readonly string[]
}
