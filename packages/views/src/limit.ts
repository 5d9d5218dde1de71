import { VitrineError } from '@vitrine/protocol'

/** Rejects an option that is not a whole number of at least `least`. */
export function wholeNumber(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new VitrineError(
    'argument_invalid',
    `${name}: expected a whole number of at least ${least}, got ${String(value)}.`,
    { details: { path: name, expected: `a whole number of at least ${least}`, got: String(value) } },
  )
}
