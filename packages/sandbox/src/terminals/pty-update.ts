/** What a terminal call answers: the output since the last answer, and whether more may come. */
export interface PtyUpdate {
  /** While it runs: for the next `ptyWriteStdin`. */
  readonly sessionId?: number
  readonly output: string
  /** Once it has ended; null when a signal ended it or nobody saw how. */
  readonly exitCode?: number | null
  readonly signal?: string | null
  /** Of the whole output, when not all of it is in `output`. */
  readonly originalTokenCount?: number
  readonly wallTimeMs: number
}

/**
 * The same for a model to read.
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
  return typeof signal === 'string' ? `Process ended by ${signal}` : 'Process ended without an exit code'
}
