export type Isolation = 'auto' | 'bubblewrap' | 'none'

/** Resources of this machine that a sandbox may use. `false` turns a default off. */
export interface MachineLimits {
  /** Memory and swap together. Default: half of the machine's memory. */
  readonly memoryBytes?: number | false
  /** CPU time in processors; 0.5 is half of one. */
  readonly cpus?: number
  /** Processes and threads, including zombies until they are reaped. Default: 4,096. */
  readonly pids?: number | false
  /** Size of each of /tmp, /var/tmp and /dev/shm, which are in memory. Default: a quarter of `memoryBytes`. */
  readonly tmpBytes?: number | false
  /** Disk space of the workspace, HOME and writable binds together. Default: no limit. */
  readonly diskBytes?: number
}

/** Limits on a sandbox's processes and their output. */
export interface ProcessLimits {
  /** Processes that may run at once, including terminals. */
  readonly processes: number
  /** Ended processes that are kept in the list. */
  readonly remembered: number
  /** Default of `maxOutputBytes`, for each stream of an `exec`. */
  readonly outputBytes: number
  /** Output of one process that is recorded in the journal. */
  readonly journalBytes: number
  /** Size of one input. */
  readonly inputBytes: number
}

export interface ArchiveLimits {
  /** Size of the archive before it is unpacked. */
  readonly inputBytes: number
  /** Size of all unpacked files. */
  readonly expandedBytes: number
  /** Files, links and directories, including parent directories that are only implied. */
  readonly members: number
  /** Largest allowed ratio of unpacked to packed size. */
  readonly ratio: number
}

/** Resource, process and archive limits of a sandbox. */
export interface SandboxLimits extends MachineLimits, Partial<ProcessLimits> {
  /** Limits on unpacking an archive. */
  readonly archives?: Partial<ArchiveLimits>
}

/** How changes in the workspace become events. */
export interface WatchOptions {
  /** Patterns with `*` of names, or of paths relative to the root, to skip. Default `.git` and `node_modules`. */
  readonly ignore?: readonly string[]
  /**
   * `native` (default) uses kernel notifications. `poll` scans at intervals, for file systems without notifications.
   * `find` scans with commands inside the sandbox, for machines whose files the host cannot access.
   */
  readonly mode?: 'native' | 'poll' | 'find'
  /** Time between two scans when polling; default 1,000. */
  readonly intervalMs?: number
  /** Maximum number of watched entries; `watch.degraded` names what is not covered. Default 500,000. */
  readonly maxEntries?: number
  /** Largest file whose content is stored after a change; default 1 MiB. 0 stores none. */
  readonly imageBytes?: number
  /** Total of such contents until the sandbox stops; default 1 GiB. */
  readonly imagesTotalBytes?: number
}

/** A path outside the workspace that `files` may read or write. */
export interface Grant {
  /** As processes see it; `~` is HOME. */
  readonly path: string
  readonly writable?: boolean
}

/** A path of this machine that is mounted in a sandbox. */
export interface Bind {
  readonly source: string
  readonly target?: string
  readonly writable?: boolean
}

export interface LocalOptions {
  /** The workspace. By default a new folder, which `destroy` removes. */
  readonly root?: string
  /** The path of HOME on this machine; by default beside the workspace. */
  readonly home?: string
  /** The data directory for sandboxes; default `~/.local/share/vitrine`. */
  readonly data?: string
  /** `auto` (default) isolates if the machine supports it, and reports if it does not. */
  readonly isolation?: Isolation
  /** `writable`: a private root file system to install into, removed with the sandbox. The host must run as root. */
  readonly rootfs?: 'read-only' | 'writable'
  readonly limits?: SandboxLimits
  /** The user that commands run as when the host is root and nothing isolates them; not root. Isolated commands never run as root. */
  readonly user?: string
  /** `none` (default): only the sandbox's own loopback. */
  readonly network?: 'none' | 'host'
  /** Hosts and ports that a sandbox without network may connect to: `['registry.example:443']`. */
  readonly egress?: readonly string[]
  /** Environment of every command. */
  readonly env?: Readonly<Record<string, string>>
  /** Paths of this machine to mount, read-only by default: tools, caches, sockets. */
  readonly binds?: readonly Bind[]
  /** Paths outside the workspace that `files` may read, or write if `writable`: parts of HOME or of `binds`. */
  readonly grants?: readonly Grant[]
  /** How file changes are watched; `false` disables it. */
  readonly watch?: WatchOptions | false
}
