import { VitrineError } from '@vitrine/protocol'

/** Where something stands in the manifest, for whoever has to correct it. */
export type Where = string

export function invalid(where: Where, reason: string): VitrineError {
  return new VitrineError('argument_invalid', `${where}: ${reason}`)
}

/** The fields of something, all of which are known. A misspelt one would be left out without a word. */
export function fieldsOf(
  where: Where,
  value: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  const fields = recordOf(where, value)
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw invalid(where, `there is no field ${JSON.stringify(unknown)}; expected ${known.join(', ')}.`)
  return fields
}

export function recordOf(where: Where, value: unknown): Readonly<Record<string, unknown>> {
  // A map or bytes would come out empty or as something else.
  if (typeof value !== 'object' || value === null || Symbol.iterator in value)
    throw invalid(where, `expected an object, got ${kindOf(value)}.`)
  return Object.fromEntries(Object.entries(value))
}

export function listOf(where: Where, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(where, `expected a list, got ${kindOf(value)}.`)
  return value
}

export function textOf(where: Where, value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw invalid(where, `expected a text, got ${value === '' ? 'an empty one' : kindOf(value)}.`)
  if (value.includes('\0')) throw invalid(where, 'it holds a NUL character.')
  return value
}

export function textsOf(where: Where, value: unknown): readonly string[] {
  return listOf(where, value).map((item, at) => textOf(`${where}[${at}]`, item))
}

export function wholeNumber(where: Where, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  throw invalid(where, `expected a whole number from ${min} to ${max}, got ${shown(value)}.`)
}

/** The bits that `files.write` takes. */
export function modeOf(where: Where, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0o1777) return value
  const got = typeof value === 'number' ? `0o${value.toString(8)}` : kindOf(value)
  throw invalid(where, `expected permission bits up to 0o1777, got ${got}.`)
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : kindOf(value)
}
