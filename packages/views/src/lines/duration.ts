/**
 * Formats a duration for display.
 *
 * @example
 * durationText(1234) // '1.2 s'
 */
export function durationText(milliseconds: number): string {
  if (milliseconds < 999.5) return `${round(milliseconds, milliseconds < 10 ? 1 : 0)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 59.95) return `${round(seconds, 1)} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.round(value * scale) / scale
}
