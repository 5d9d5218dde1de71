import { VitrineError } from '@vitrine/protocol'

/** A whole number within bounds, or an error that says what was expected and what came. */
export function wholeNumber(
  name: string,
  value: number | undefined,
  { min, max, fallback }: { min: number; max: number; fallback: number },
): number {
  if (value === undefined) return fallback
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new VitrineError(
    'argument_invalid',
    `${name}: expected a whole number from ${min} to ${max}, got ${shown(value)}.`,
    {
      details: { argument: name },
    },
  )
}

/** A text in quotes: `"10"` is not 10. */
function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
