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
