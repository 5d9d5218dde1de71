import { VitrineError } from '@vitrine/protocol'

/** JSON has no `NaN` and no `Infinity`: they would arrive as null. The server checks the rest. */
export function timeLimit(timeoutMs: number | undefined): number | undefined {
  if (typeof timeoutMs !== 'number' || Number.isFinite(timeoutMs)) return timeoutMs
  throw new VitrineError('argument_invalid', `timeoutMs: expected milliseconds, got ${timeoutMs}.`)
}
