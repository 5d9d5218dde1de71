import { VitrineError } from '../errors/vitrine-error.ts'

/** Whether a value is a whole number within bounds, small enough to be exact. */
export function isWholeNumber(
  value: unknown,
  least = 0,
  most: number = Number.MAX_SAFE_INTEGER,
): value is number {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
}

/** The bounds as text for an error message: `a whole number from 1 to 65535`. */
export function wholeNumberWithin(least: number, most: number): string {
  return most === Number.MAX_SAFE_INTEGER
    ? `a whole number of at least ${least}`
    : `a whole number from ${least} to ${most}`
}

/**
 * Returns the value, or throws `argument_invalid` if it is not a whole number within bounds.
 *
 * @example
 * requireWholeNumber('port', 0, 1, 65_535) // throws "port: expected a whole number from 1 to 65535, got 0."
 */
export function requireWholeNumber(
  name: string,
  value: number,
  least = 0,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  if (isWholeNumber(value, least, most)) return value
  const expected = wholeNumberWithin(least, most)
  const got = String(value)
  throw new VitrineError('argument_invalid', `${name}: expected ${expected}, got ${got}.`, {
    details: { path: name, expected, got },
  })
}

export function requirePort(port: number): number {
  return requireWholeNumber('port', port, 1, 65_535)
}
