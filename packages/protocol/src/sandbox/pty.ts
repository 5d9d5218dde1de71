import type { Command, SpawnOptions } from './processes.ts'

export interface PtyStart extends Pick<SpawnOptions, 'shell' | 'env' | 'secrets' | 'user' | 'timeoutMs'> {
  readonly cmd: Command
  readonly workdir?: string
  /** Whether to run in a terminal, which accepts input. Default: false. */
  readonly tty?: boolean
  /** How long to wait for the command to end: 250 ms to 30 s. Default: 10 s. */
  readonly yieldTimeMs?: number
  /** The most tokens of output in one update; a token is 4 bytes. Default: 10,000. */
  readonly maxOutputTokens?: number
}

export interface PtyWrite {
  readonly sessionId: number
  /** The input to type. Without it, the call only polls for new output, for at least 5 s. */
  readonly chars?: string
  /** How long to wait after typing: 250 ms to 30 s. Default: 250 ms. */
  readonly yieldTimeMs?: number
  readonly maxOutputTokens?: number
}

/** The terminal tool for models: every update is short, and says how to continue. */
export interface PtyTool {
  /**
   * Starts a command and resolves when it has ended or the yield time is over. For tools of a model, which get short texts;
   * people and programs use `spawn` with `tty`, which returns a process with live output.
   */
  ptyExecStart(start: PtyStart): Promise<PtyUpdate>
  /** Types into a session, or polls its new output. A session that has ended is removed after this update. */
  ptyWriteStdin(write: PtyWrite): Promise<PtyUpdate>
  /** Kills the commands that were started with `ptyExecStart`. */
  ptyTerminateAll(): Promise<void>
}

/** The result of a terminal call: the output since the last call, and whether the process still runs. */
export interface PtyUpdate {
  /** Set while the process runs: the id for the next `ptyWriteStdin`. */
  readonly sessionId?: number
  readonly output: string
  /** Set once the process has ended; null if a signal ended it or its exit status is unknown. */
  readonly exitCode?: number | null
  readonly signal?: string | null
  /** The token count of the whole output, set only if `output` is truncated. */
  readonly originalTokenCount?: number
  readonly wallTimeMs: number
}

/**
 * Formats an update as text for a model.
 *
 * @example
 * formatPtyUpdate({ sessionId: 4711, output: '$ ', wallTimeMs: 250 })
 * // Wall time: 0.2500 seconds
 * // Process running with session ID 4711
 * // Output:
 * // $
 */
export function formatPtyUpdate(update: PtyUpdate): string {
  const { output, originalTokenCount, wallTimeMs } = update
  const lines = [
    `Wall time: ${(wallTimeMs / 1_000).toFixed(4)} seconds`,
    stateOf(update),
    ...(originalTokenCount === undefined ? [] : [`Original token count: ${originalTokenCount}`]),
    'Output:',
    output,
  ]
  return lines.join('\n')
}

function stateOf({ sessionId, exitCode, signal }: PtyUpdate): string {
  if (sessionId !== undefined) return `Process running with session ID ${sessionId}`
  if (typeof exitCode === 'number') return `Process exited with code ${exitCode}`
  return typeof signal === 'string' ? `Process killed by ${signal}` : 'Process exited without an exit code'
}
