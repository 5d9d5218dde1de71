export type Isolation = 'auto' | 'bubblewrap' | 'none'

/** What a machine may have of this one. */
export interface MachineLimits {
  /** Memory and swap together. */
  readonly memoryBytes?: number
  /** Processors' worth of time; 0.5 is half of one. */
  readonly cpus?: number
  /** Processes and threads. Zombies count until their parent takes note of them. */
  readonly pids?: number
}

/** How much a sandbox's processes may have. */
export interface ProcessLimits {
  /** How many may run at once, terminals included. */
  readonly processes: number
  /** How many that have ended are remembered. */
  readonly remembered: number
  /** Of each stream of an `exec`, unless it says otherwise. */
  readonly outputBytes: number
  /** Of the output of one process in the journal. */
  readonly journalBytes: number
  /** Of one input. */
  readonly inputBytes: number
}

export interface ArchiveLimits {
  /** Of the archive as it comes. */
  readonly inputBytes: number
  /** Of everything in it. */
  readonly expandedBytes: number
  /** Files, links and directories, also those that are only named as somebody's parent. */
  readonly members: number
  /** How many times larger it may become. */
  readonly ratio: number
}

/** What a machine may have, and what its processes may. */
export interface SandboxLimits extends MachineLimits, Partial<ProcessLimits> {
  /** What an archive may bring in. */
  readonly archives?: Partial<ArchiveLimits>
}

/** How changes in the workspace become events. */
export interface WatchOptions {
  /** Names, or paths from the root, that are not looked into: patterns with `*`. Default `.git` and `node_modules`. */
  readonly ignore?: readonly string[]
  /**
   * `native` (default): the kernel tells. `poll`: it is looked at every so often, for file systems that do not tell.
   * `find`: the same by commands inside, for machines where nothing else can be done.
   */
  readonly mode?: 'native' | 'poll' | 'find'
  /** Between two looks when polling; default 1,000. */
  readonly intervalMs?: number
  /** Entries that are followed; what is beyond is named in `watch.degraded`. Default 500,000. */
  readonly maxEntries?: number
  /** Of one file whose content is kept after a change; default 1 MiB. 0 keeps none. */
  readonly imageBytes?: number
  /** Of all such contents in one life of the sandbox; default 1 GiB. */
  readonly imagesTotalBytes?: number
}

/** More than the workspace that files may be read from, or written to. */
export interface Grant {
  /** As processes see it; `~` is HOME. */
  readonly path: string
  readonly writable?: boolean
}

/** Something of this machine inside a sandbox. */
export interface Bind {
  readonly source: string
  readonly target?: string
  readonly writable?: boolean
}

export interface LocalOptions {
  /** The workspace. Without one, the sandbox gets a folder of its own, which goes with `destroy`. */
  readonly root?: string
  /** HOME on this machine. Beside the workspace without one. */
  readonly home?: string
  /** Where sandboxes keep what is theirs; default `~/.local/share/vitrine`. */
  readonly data?: string
  /** `auto` (default) isolates where it can and says so where it cannot. */
  readonly isolation?: Isolation
  /** `writable`: a system of its own to install into, which disappears with the sandbox. Needs a host that is root. */
  readonly rootfs?: 'read-only' | 'writable'
  readonly limits?: SandboxLimits
  /** Who commands run as without isolation, when the host is root: one that is not. With isolation it is never root. */
  readonly user?: string
  /** `none` (default): only the sandbox's own loopback. */
  readonly network?: 'none' | 'host'
  /** The only hosts and ports that a sandbox without network reaches: `['registry.example:443']`. */
  readonly egress?: readonly string[]
  /** For every command. */
  readonly env?: Readonly<Record<string, string>>
  /** More of this machine inside, read-only unless said: tools, caches, sockets. */
  readonly binds?: readonly Bind[]
  /** Places beside the workspace that `files` may read, and where said write: parts of HOME or of `binds`. */
  readonly grants?: readonly Grant[]
  /** How changes of files are followed; `false` for not at all. */
  readonly watch?: WatchOptions | false
}
