const units = ['KiB', 'MiB', 'GiB', 'TiB'] as const

/**
 * Formats a number of bytes for display.
 *
 * @example
 * sizeText(1536) // '1.5 KiB'
 */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  let value = bytes
  let unit = -1
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${Math.round(value * 10) / 10} ${units[unit]}`
}
