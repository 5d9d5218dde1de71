import { type Outcome, outcomes } from '@vitrine/protocol'
import { isWholeNumber } from '@vitrine/protocol/primitives'

// The writer checks events, but a view also gets events of newer versions and of other writers, so the type of every
// field is checked before use.

export type Fields = { readonly [key: string]: unknown }

const none: Fields = {}

export function asFields(value: unknown): Fields {
  return isFields(value) ? value : none
}

export function fieldsIn(data: Fields, key: string): Fields {
  return asFields(field(data, key))
}

export function textIn(data: Fields, key: string): string | undefined {
  const value = field(data, key)
  return typeof value === 'string' ? value : undefined
}

/** A string that is not empty, usable as an id. */
export function idIn(data: Fields, key: string): string | undefined {
  return textIn(data, key) || undefined
}

export function textsIn(data: Fields, key: string): readonly string[] | undefined {
  const value = field(data, key)
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}

export function numberIn(data: Fields, key: string): number | undefined {
  const value = field(data, key)
  // Adding zero turns -0, which JSON cannot represent, into 0.
  return typeof value === 'number' && Number.isFinite(value) ? value + 0 : undefined
}

export function countIn(data: Fields, key: string): number | undefined {
  const value = numberIn(data, key)
  return isWholeNumber(value) ? value : undefined
}

export function outcomeIn(data: Fields): Outcome | undefined {
  const value = field(data, 'outcome')
  return outcomes.find((outcome) => outcome === value)
}

/** A copy without `undefined` fields, which JSON cannot represent. */
export function omitUndefined<T extends object>(
  fields: T,
): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const defined: { [Key in keyof T]?: Exclude<T[Key], undefined> } = {}
  for (const key in fields) {
    const value = fields[key]
    if (isDefined(value)) defined[key] = value
  }
  return defined
}

function isDefined<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function field(data: Fields, key: string): unknown {
  return Object.hasOwn(data, key) ? data[key] : undefined
}
