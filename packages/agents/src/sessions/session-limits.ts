import { type OpenSessionOptions, VitrineError } from '@vitrine/protocol'

/** The longest that a timer of Node takes; a longer one would be over at once. */
const longestMs = 0x7fff_ffff

/** Refuses limits that are none. */
export function checkLimits({ limits = {}, queue, restoreChars }: OpenSessionOptions): void {
  const { idleMs, totalMs, cancelMs } = limits
  within('limits.idleMs', idleMs, 1, longestMs)
  within('limits.totalMs', totalMs, 1, longestMs)
  within('limits.cancelMs', cancelMs, 0, longestMs)
  within('queue', queue, 0, Number.MAX_SAFE_INTEGER)
  within('restoreChars', restoreChars, 0, Number.MAX_SAFE_INTEGER)
}

function within(name: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return
  throw new VitrineError(
    'argument_invalid',
    `${name}: expected a whole number from ${min} to ${max}, got ${String(value)}.`,
  )
}
