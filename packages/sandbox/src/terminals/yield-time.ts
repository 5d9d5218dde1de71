import { VitrineError } from '@vitrine/protocol'

const shortestMs = 250
const longestMs = 30_000
/** The shortest wait of a call that only polls for output. */
const shortestPollMs = 5_000

/** How long a call waits for output before it returns. */
export function yieldTime(requestedMs: number, kind: 'command' | 'poll'): number {
  if (typeof requestedMs !== 'number' || Number.isNaN(requestedMs))
    throw new VitrineError(
      'argument_invalid',
      `yieldTimeMs: expected a number of milliseconds, got ${requestedMs}.`,
    )
  const least = kind === 'poll' ? shortestPollMs : shortestMs
  return Math.min(longestMs, Math.max(least, requestedMs))
}
