import type { JsonValue } from '@vitrine/protocol'
import { type Fields, idIn } from '../fields.ts'
import { cut } from '../lines/cut.ts'

/** Longer than any honest name, title or path. */
const maxName = 1000
/** Deeper than any honest input; what is deeper would break whoever writes it as JSON. */
const maxDepth = 32

/** A text that names something. */
export function nameIn(data: Fields, key: string): string | undefined {
  const name = idIn(data, key)
  return name === undefined ? undefined : cut(name, maxName)
}

/** The beginning of a text, without half a character at its end. */
export function head(text: string, max: number): string {
  if (text.length <= max) return text
  return text.slice(0, Math.max(0, max)).replace(/[\ud800-\udbff]$/, '')
}

/** The end of a text, without half a character at its beginning. */
export function tail(text: string, max: number): string {
  if (text.length <= max) return text
  return max < 1 ? '' : text.slice(-max).replace(/^[\udc00-\udfff]/, '')
}

export interface Bounded {
  readonly value: JsonValue
  /** Something had no room. */
  readonly cut: boolean
}

/** A copy of any JSON with at most about `max` characters: texts are cut, and what has no room is left out. */
export function bounded(value: unknown, max: number): Bounded {
  const budget = { room: max, cut: false }
  return { value: kept(value, budget, 0), cut: budget.cut }
}

interface Budget {
  room: number
  cut: boolean
}

function kept(value: unknown, budget: Budget, depth: number): JsonValue {
  // Whatever it is, it takes some place: a million empty lists are not nothing.
  budget.room -= 1
  if (typeof value === 'string') return keptText(value, budget)
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0
  if (typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (depth === maxDepth) {
    budget.cut = true
    return null
  }
  if (Array.isArray(value)) {
    return Array.from(whileRoom(value, budget), (inner) => kept(inner, budget, depth + 1))
  }
  const fields = whileRoom(Object.entries(value), budget)
  return Object.fromEntries(
    Array.from(fields, ([key, inner]) => [keptText(key, budget), kept(inner, budget, depth + 1)]),
  )
}

function keptText(text: string, budget: Budget): string {
  const part = head(text, budget.room)
  budget.room -= part.length
  if (part.length < text.length) budget.cut = true
  return part
}

function* whileRoom<T>(values: readonly T[], budget: Budget): Generator<T> {
  for (const value of values) {
    if (budget.room < 1) {
      budget.cut = true
      return
    }
    yield value
  }
}

/** How many characters a bounded value takes. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length
  if (Array.isArray(value)) return value.reduce((sum: number, inner) => sum + sizeOf(inner), 1)
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 1
  return Object.entries(value).reduce((sum, [key, inner]) => sum + key.length + sizeOf(inner), 1)
}
