import type { Outcome } from '../events/data/shared.ts'
import type { ByteStream } from './files.ts'

/** A string runs in a shell, an array without one. */
export type Command = string | readonly string[]

export interface ExecOptions {
  /** The shell of a string command: `sh` by default, or a prefix such as `['bash', '-lc']`. */
  readonly shell?: string | readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** More variables, whose values are masked in every event. Only their names are recorded. */
  readonly secrets?: Readonly<Record<string, string>>
  readonly user?: string
  readonly stdin?: string | Uint8Array | ByteStream
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Limit for each stream; longer output keeps its head and tail and sets `truncated`. */
  readonly maxOutputBytes?: number
}

export interface ExecResult {
  readonly outcome: Outcome
  /** The observed exit code; null if there was none. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly durationMs: number
  /** The limit of the sandbox that the command ran into. */
  readonly limit?: ReachedLimit
}

/** A limit of a sandbox that was reached while a command ran. */
export interface ReachedLimit {
  /** `disk` is the disk of the host, which is full. */
  readonly limit: 'memoryBytes' | 'pids' | 'tmpBytes' | 'diskBytes' | 'disk'
  /** 0 for `disk`. */
  readonly max: number
  /** Says what happened and which option to raise. */
  readonly message: string
}

export interface SpawnOptions extends Omit<ExecOptions, 'stdin' | 'maxOutputBytes'> {
  /** Runs it in a terminal of this size, for people and programs; a model's tool uses `ptyExecStart`. */
  readonly tty?: { readonly cols: number; readonly rows: number }
  /** A label for lists: `user`, `desktop`, the name of an agent … */
  readonly owner?: string
  /** `on-failure` restarts with a growing delay of up to 30 s. Default `never`. */
  readonly restart?: 'never' | 'on-failure' | 'always'
}

export interface ProcessInfo {
  readonly id: string
  readonly argv: readonly string[]
  readonly pid?: number
  readonly tty: boolean
  readonly owner?: string
  readonly startedAt: string
  /** `waiting`: it has ended and will be restarted. */
  readonly state: 'running' | 'waiting' | 'exited'
  readonly restarts: number
  /** The most recent exit. */
  readonly exit?: ProcessExit
}

export interface ProcessExit {
  readonly outcome: Outcome
  readonly exitCode: number | null
  readonly signal: string | null
  /** The limit of the sandbox that it ran into. */
  readonly limit?: ReachedLimit
}

/** Raw output of a process. */
export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr' | 'terminal'
  readonly data: Uint8Array
}

export interface Process {
  readonly id: string
  readonly pid?: number
  /** Resolves once the exit was observed and committed. */
  readonly exit: Promise<ProcessExit>
  /**
   * The most recent output, then new output until the process ends. Any number of readers may view it; a reader that
   * falls too far behind gets an error instead of a gap.
   */
  view(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<OutputChunk>
  input(data: string | Uint8Array): Promise<void>
  /** Closes the input. */
  end(): Promise<void>
  resize(cols: number, rows: number): Promise<void>
  signal(name: string): Promise<void>
  /** Sends SIGTERM, then SIGKILL after `graceMs`. */
  stop(options?: { readonly graceMs?: number }): Promise<ProcessExit>
  kill(): Promise<ProcessExit>
}

export interface LogChunk {
  /** When it was recorded. */
  readonly time: string
  readonly stream: 'stdout' | 'stderr' | 'terminal'
  readonly offset: number
  readonly data: Uint8Array
  readonly skipped?: number
}

export interface LogOptions {
  /** An ISO time, or a cursor of the journal. */
  readonly since?: string
  /** Only this many of the last lines. */
  readonly tail?: number
  readonly signal?: AbortSignal
}

export interface Processes {
  list(): Promise<readonly ProcessInfo[]>
  get(id: string): Promise<ProcessInfo>
  logs(id: string, options?: LogOptions): Promise<readonly LogChunk[]>
  follow(id: string, options?: LogOptions): AsyncIterableIterator<LogChunk>
  input(id: string, data: string | Uint8Array): Promise<void>
  resize(id: string, cols: number, rows: number): Promise<void>
  signal(id: string, name: string): Promise<void>
  stop(id: string, options?: { readonly graceMs?: number }): Promise<ProcessExit>
  kill(id: string): Promise<ProcessExit>
  attach(id: string): Promise<Process>
  remove(id: string): Promise<void>
}
