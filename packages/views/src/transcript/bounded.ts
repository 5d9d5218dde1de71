import type { JsonValue } from '@vitrine/protocol'
import { type Fields, idIn } from '../fields.ts'
import { cut } from '../text/cut.ts'

/** Limit for names, titles and paths; no real one is longer. */
const maxName = 1000
/** Limit for nesting, which could otherwise overflow the stack of a JSON writer. */
const maxDepth = 32

/** A non-empty string, cut to the length of a name. */
export function nameIn(data: Fields, key: string): string | undefined {
  const name = idIn(data, key)
  return name === undefined ? undefined : cut(name, maxName)
}

/** The beginning of a text; does not split a surrogate pair. */
export function head(text: string, max: number): string {
  if (text.length <= max) return text
  return text.slice(0, Math.max(0, max)).replace(/[\ud800-\udbff]$/, '')
}

/** The end of a text; does not split a surrogate pair. */
export function tail(text: string, max: number): string {
  if (text.length <= max) return text
  return max < 1 ? '' : text.slice(-max).replace(/^[\udc00-\udfff]/, '')
}

export interface Bounded {
  readonly value: JsonValue
  /** Whether something was cut or omitted. */
  readonly cut: boolean
}

/** A copy of any JSON with about `max` characters at most: strings are cut and further values are omitted. */
export function bounded(value: unknown, max: number): Bounded {
  const budget = { remaining: max, cut: false }
  return { value: boundedValue(value, budget, 0), cut: budget.cut }
}

interface Budget {
  remaining: number
  cut: boolean
}

function boundedValue(value: unknown, budget: Budget, depth: number): JsonValue {
  // Every value counts, since even a million empty arrays take memory.
  budget.remaining -= 1
  if (typeof value === 'string') return boundedText(value, budget)
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0
  if (typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (depth === maxDepth) {
    budget.cut = true
    return null
  }
  if (Array.isArray(value)) {
    return Array.from(whileBudgetLasts(value, budget), (inner) => boundedValue(inner, budget, depth + 1))
  }
  const fields = whileBudgetLasts(Object.entries(value), budget)
  return Object.fromEntries(
    Array.from(fields, ([key, inner]) => [boundedText(key, budget), boundedValue(inner, budget, depth + 1)]),
  )
}

function boundedText(text: string, budget: Budget): string {
  const part = head(text, budget.remaining)
  budget.remaining -= part.length
  if (part.length < text.length) budget.cut = true
  return part
}

function* whileBudgetLasts<T>(values: readonly T[], budget: Budget): Generator<T> {
  for (const value of values) {
    if (budget.remaining < 1) {
      budget.cut = true
      return
    }
    yield value
  }
}

/** The number of characters of a bounded value. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length
  if (Array.isArray(value)) return value.reduce((sum: number, inner) => sum + sizeOf(inner), 1)
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 1
  return Object.entries(value).reduce((sum, [key, inner]) => sum + key.length + sizeOf(inner), 1)
}
