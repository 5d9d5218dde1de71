import type { Outcome } from '../events/data/shared.ts'

/** A text runs in a shell, an array as it is. */
export type Command = string | readonly string[]

export interface ExecOptions {
  /** The shell of a text command: `sh` by default, or a prefix such as `['bash', '-lc']`. */
  readonly shell?: string | readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly user?: string
  readonly stdin?: string | Uint8Array | ReadableStream<Uint8Array>
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Of each stream; head and tail are kept and `truncated` says so. */
  readonly maxOutputBytes?: number
}

export interface ExecResult {
  readonly outcome: Outcome
  /** Observed, or null. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly durationMs: number
}

export interface SpawnOptions extends Omit<ExecOptions, 'stdin' | 'maxOutputBytes'> {
  readonly tty?: { readonly cols: number; readonly rows: number }
  /** Whose it is, for lists: `user`, `desktop`, the name of an agent … */
  readonly owner?: string
  /** `on-failure` waits longer with each failure, up to 30 s. Default `never`. */
  readonly restart?: 'never' | 'on-failure' | 'always'
}

export interface ProcessInfo {
  readonly id: string
  readonly argv: readonly string[]
  readonly pid?: number
  readonly tty: boolean
  readonly owner?: string
  readonly startedAt: string
  /** `waiting`: it has ended and will be started again. */
  readonly state: 'running' | 'waiting' | 'exited'
  readonly restarts: number
  /** How it ended last. */
  readonly exit?: ProcessExit
}

export interface ProcessExit {
  readonly outcome: Outcome
  readonly exitCode: number | null
  readonly signal: string | null
}

/** What came out of a process, as it came. */
export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr' | 'terminal'
  readonly data: Uint8Array
}

export interface Process {
  readonly id: string
  readonly pid?: number
  /** Settles once the end was observed and committed. */
  readonly exit: Promise<ProcessExit>
  /**
   * The most recent output, then everything as it comes, until the process ends. Any number may watch; one that falls
   * too far behind gets an error, never a hole.
   */
  view(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<OutputChunk>
  input(data: string | Uint8Array): Promise<void>
  /** No more input. */
  end(): Promise<void>
  resize(cols: number, rows: number): Promise<void>
  signal(name: string): Promise<void>
  /** Politely, then for certain. */
  stop(options?: { readonly graceMs?: number }): Promise<ProcessExit>
  kill(): Promise<ProcessExit>
}

export interface LogChunk {
  /** When it was written down. */
  readonly time: string
  readonly stream: 'stdout' | 'stderr' | 'terminal'
  readonly offset: number
  readonly data: Uint8Array
  readonly skipped?: number
}

export interface LogOptions {
  /** A time (ISO), or a cursor of the journal. */
  readonly since?: string
  /** Only so many of the last lines. */
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
