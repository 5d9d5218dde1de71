import { VitrineError } from '@vitrine/protocol'

/** JSON has no `NaN` and no `Infinity`: they would arrive as no limit at all. */
export function timeLimit(timeoutMs: number | undefined): number | undefined {
  if (timeoutMs === undefined) return undefined
  if (timeoutMs > 0 && timeoutMs <= 0x7fff_ffff) return Math.ceil(timeoutMs)
  throw new VitrineError(
    'argument_invalid',
    `timeoutMs: expected a number of milliseconds above 0, got ${timeoutMs}.`,
  )
}
