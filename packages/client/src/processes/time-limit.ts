import { VitrineError } from '@vitrine/protocol'

/** Rejects `NaN` and `Infinity`, which JSON would turn into null. The server checks the rest. */
export function timeLimit(timeoutMs: number | undefined): number | undefined {
  if (typeof timeoutMs !== 'number' || Number.isFinite(timeoutMs)) return timeoutMs
  throw new VitrineError(
    'argument_invalid',
    `timeoutMs: expected a finite number of milliseconds, got ${timeoutMs}.`,
  )
}
