import type { Server, Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { Capabilities } from '@vitrine/protocol'
import type { FileIdentity } from '../files/identity.ts'

/** One program to start, with nothing left to decide. */
export interface Launch {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly user?: string | undefined
  /** Whether its input stays open for what is to come. */
  readonly input: boolean
  /** What it leaves behind at its end can still be found and ended by `killTree`. */
  readonly keepAfterExit?: boolean
  readonly tty?: { readonly cols: number; readonly rows: number } | undefined
}

/** How the operating system says a program ended. */
export interface WaitStatus {
  readonly code: number | null
  readonly signal: string | null
}

/** A program that runs. */
export interface Launched {
  /** As the sandbox numbers it. */
  readonly pid: number
  /** The top of its tree, as the host numbers it. */
  readonly top: number
  readonly ended: Promise<WaitStatus>
  readonly pipes?: { readonly stdin?: Writable; readonly stdout: Readable; readonly stderr: Readable }
  readonly terminal?: LaunchedTerminal
  /** To the program itself, or to everything it started as well. */
  signal(name: NodeJS.Signals, scope: 'program' | 'tree'): void
  /** Everything it started, `setsid` escapees included. Settles when nothing of it is left. */
  killTree(): Promise<void>
  /** Asks all of it to end. Settles when nothing of it is left, which after `graceMs` is certain. */
  stopTree(graceMs: number): Promise<void>
}

export interface LaunchedTerminal {
  onData(listener: (bytes: Buffer) => void): void
  /** Settles once the terminal has taken it. */
  write(data: string | Uint8Array): Promise<void>
  resize(cols: number, rows: number): Promise<void>
  pause(): void
  resume(): void
  close(): void
  /** Nothing more will come. */
  readonly closed: Promise<void>
}

/** Something asked for, or expected, that is not to be had here. */
export interface Degradation {
  readonly what: string
  readonly reason: string
}

/** What a machine can do for a sandbox; its files are followed from outside. */
export type MachineCapabilities = Omit<Capabilities, 'watching'>

/** What a sandbox's commands run in: one /tmp, one loopback, one process table, one HOME. */
export interface Machine {
  readonly capabilities: MachineCapabilities
  readonly degraded: readonly Degradation[]
  /** The workspace and HOME, as processes see them. */
  readonly root: string
  readonly home: string
  /** Where a command may start: the workspace, HOME and /tmp. */
  readonly places: readonly string[]
  /** Where something lies on the host that processes see at a path; absent for what is the machine's own. */
  onDisk(path: string): string | undefined
  /** Whether what the host makes in the workspace must be given to its owner. */
  readonly givesFilesAway: boolean
  /** A user in the numbers of the workspace's disk. */
  fileUser(name: string): FileIdentity
  /** Variables that every command gets. */
  readonly environment: Readonly<Record<string, string>>
  /** Rejects with a coded error when the program could not be started. */
  launch(launch: Launch): Promise<Launched>
  /** The processes inside, as the host numbers them. */
  pids(): Promise<readonly number[]>
  /** Where the kernel lists the sockets of the network inside. */
  readonly netFolder: string
  /** True when a port inside is a port of the host. */
  readonly sharesLoopback: boolean
  /** A connection to a port inside. */
  connect(port: number): Promise<Socket>
  /** A server on the sandbox's own loopback. */
  listen(port: number): Promise<Server>
  pause(): Promise<void>
  resume(): Promise<void>
  /** Called once when the machine is gone without having been asked to go. */
  onLost(listener: (reason: string) => void): void
  /** Ends every process inside. */
  close(): Promise<void>
}
