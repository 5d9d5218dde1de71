import type { Server, Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { FileIdentity } from '@vitrine/archives'
import type { Capabilities } from '@vitrine/protocol'
import type { LimitHits } from '../cgroups/limit-hits.ts'
import type { ChooseProcesses } from './kill-inside.ts'
import type { EnforcedLimits } from './limits.ts'

/** One program to start, with all defaults applied. */
export interface Launch {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly user?: string | undefined
  /** Whether its stdin is a pipe to write to; otherwise it reads end of file. */
  readonly input: boolean
  /** Lets `killTree` find and kill the processes that it leaves behind when it exits. */
  readonly keepAfterExit?: boolean
  readonly tty?: { readonly cols: number; readonly rows: number } | undefined
}

/** The wait status of a program, as the operating system reports it. */
export interface WaitStatus {
  readonly code: number | null
  readonly signal: string | null
}

/** A running program. */
export interface Launched {
  /** The pid inside the sandbox. */
  readonly pid: number
  /** The pid on the host of the process at the top of its tree. */
  readonly top: number
  /** When that process started, in clock ticks since the boot; -1 if it is not known. */
  readonly startedAt: number
  readonly ended: Promise<WaitStatus>
  readonly pipes?: { readonly stdin?: Writable; readonly stdout: Readable; readonly stderr: Readable }
  readonly terminal?: LaunchedTerminal
  /** Signals the program alone, or all processes of its tree. */
  signal(name: NodeJS.Signals, scope: 'program' | 'tree'): void
  /** Kills its whole tree, including processes that called `setsid`. Settles when no process is left. */
  killTree(): Promise<void>
  /** Sends SIGTERM to its whole tree, and SIGKILL after `graceMs`. Settles when no process is left. */
  stopTree(graceMs: number): Promise<void>
}

export interface LaunchedTerminal {
  onData(listener: (bytes: Buffer) => void): void
  /** Settles once the terminal has accepted all data. */
  write(data: string | Uint8Array): Promise<void>
  resize(cols: number, rows: number): Promise<void>
  pause(): void
  resume(): void
  close(): void
  /** Settles when no more output will come. */
  readonly closed: Promise<void>
}

/** A requested or expected feature that this host cannot provide. */
export interface Degradation {
  readonly feature: string
  readonly reason: string
}

/** The capabilities of a machine, apart from those of its engine, which accesses and watches files from the host. */
export type MachineCapabilities = Omit<Capabilities, 'commands' | 'files' | 'watching'>

/** The environment that a sandbox's commands run in: one /tmp, one loopback, one process table, one HOME. */
export interface Machine {
  readonly capabilities: MachineCapabilities
  readonly degraded: readonly Degradation[]
  /** The limits that the kernel enforces. */
  readonly limits: EnforcedLimits
  /** How often these limits were hit. */
  limitHits(): LimitHits
  /** The processes and threads inside, if they are counted. */
  pidsInUse(): number | undefined
  /** The host's paths of its file systems in memory that `tmpBytes` limits. */
  readonly tmpFolders: readonly string[]
  /** The workspace and HOME, as processes see them. */
  readonly root: string
  readonly home: string
  /** The folders in which a command may start: the workspace, HOME, /tmp and, under isolation, the binds. */
  readonly cwdRoots: readonly string[]
  /** Whether commands can change a file or folder, or put another one in its place. */
  canChange(path: string): boolean
  /** The host's path of a path inside; undefined for paths that only the machine has. */
  onDisk(path: string): string | undefined
  /** Whether files that the host creates in the workspace must be chowned to its owner. */
  readonly chownsFiles: boolean
  /** A user's ids as they are on the workspace's disk. */
  fileUser(name: string): FileIdentity
  /** The variables that every command gets. */
  readonly environment: Readonly<Record<string, string>>
  /** Rejects with a coded error when the program could not be started. */
  launch(launch: Launch): Promise<Launched>
  /** The host's pids of the processes inside. */
  pids(): Promise<readonly number[]>
  /** Kills some of the processes inside, never the machine's own, and resolves to their number. */
  killInside(choose: ChooseProcesses): Promise<number>
  /** The `/proc` folder in which the kernel lists the sockets of the network inside. */
  readonly netFolder: string
  /** True when a port inside is a port of the host. */
  readonly sharesLoopback: boolean
  /** Connects to a port inside. */
  connect(port: number): Promise<Socket>
  /** Opens a server on the sandbox's loopback. */
  listen(port: number): Promise<Server>
  pause(): Promise<void>
  resume(): Promise<void>
  /** Called once if the machine ends without a call of `close`. */
  onLost(listener: (reason: string) => void): void
  /** Stops every process inside. */
  close(): Promise<void>
}
