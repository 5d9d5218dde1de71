type Environment = Readonly<Record<string, string>>

/**
 * The initial content of a new sandbox, prepared in this order: accounts, directories, files, copies, clones, commands. Paths
 * are relative to the workspace's root, and no entry may lie inside another.
 *
 * @example
 * await createSandbox({
 *   workspace: {
 *     files: { '.env': 'PORT=3000' },
 *     git: { app: { url: 'https://example.com/app.git', ref: 'main' } },
 *     setup: [{ run: 'npm ci', cwd: 'app' }, { parallel: ['npm test', 'npm run lint'] }],
 *   },
 * })
 */
export interface WorkspaceManifest<Content = string | Uint8Array> {
  readonly files?: Readonly<Record<string, Content | ManifestFile<Content>>>
  readonly directories?: readonly (string | ManifestDirectory)[]
  /** Copied from this machine: target in the workspace → source. */
  readonly copy?: Readonly<Record<string, string | LocalSource>>
  /** Cloned inside the sandbox, by its own git: target → repository. `.` is the workspace itself. */
  readonly git?: Readonly<Record<string, GitRepository>>
  /** Accounts need a root file system of the sandbox's own: `rootfs: 'writable'`. */
  readonly users?: readonly (string | ManifestUser)[]
  readonly groups?: readonly string[]
  /** Environment of every command; overrides the provider's. */
  readonly env?: Environment
  readonly setup?: readonly SetupStep[]
  /** How many steps of a parallel group run at once; default 4. */
  readonly concurrency?: number
}

/** The bytes of a file in JSON. */
export interface EncodedBytes {
  readonly base64: string
}

export interface ManifestFile<Content = string | Uint8Array> {
  readonly content: Content
  readonly mode?: number
}

export interface ManifestDirectory {
  readonly path: string
  readonly mode?: number
}

export interface LocalSource {
  readonly source: string
  /** Names at any depth, or paths relative to the source, with `*`, `**` and `?`. */
  readonly ignore?: readonly string[]
}

export interface GitRepository {
  readonly url: string
  /** A branch, a tag, or the full sha of a commit. */
  readonly ref?: string
  /** Number of commits to fetch; default 1. */
  readonly depth?: number | 'full'
  /** Never written to an argument, `.git/config` or the journal. */
  readonly credentials?: { readonly username?: string; readonly token: string }
}

export interface ManifestUser {
  readonly name: string
  readonly groups?: readonly string[]
}

/** A command, or several in parallel. Each is a separate `exec`, so `cd` and `export` do not affect the next. */
export type SetupStep =
  | string
  | readonly string[]
  | SetupCommand
  /** If one fails, the others are killed. */
  | { readonly parallel: readonly SetupStep[] }

export interface SetupCommand {
  readonly run: string | readonly string[]
  /** The name in progress and errors; default the command. */
  readonly name?: string
  readonly cwd?: string
  readonly env?: Environment
  readonly user?: string
  readonly timeoutMs?: number
}
