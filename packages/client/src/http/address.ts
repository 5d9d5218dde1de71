import { VitrineError } from '@vitrine/protocol'
import { requireWholeNumber } from '@vitrine/protocol/primitives'
import { percentEncode } from './percent-encode.ts'

export type QueryValue = string | number | boolean | readonly string[] | undefined

/** Query values by name; `undefined` ones are omitted. */
export type Query = Readonly<Record<string, QueryValue>>

/** Builds a path of the API from segments; each is percent-encoded. */
export function pathOf(parts: readonly string[]): string {
  return `/v1/${parts.map(segment).join('/')}`
}

function segment(part: string): string {
  // URLs cannot contain these segments: they would lead to another route.
  if (typeof part === 'string' && !['', '.', '..'].includes(part)) return percentEncode(part)
  throw new VitrineError('argument_invalid', `Expected an id or a name, got ${JSON.stringify(part)}.`)
}

export function queryOf(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${percentEncode(textOf(name, value))}`],
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function textOf(name: string, value: NonNullable<QueryValue>): string {
  if (typeof value === 'object') return Array.isArray(value) ? value.join(',') : JSON.stringify(value)
  if (typeof value === 'number') return String(requireWholeNumber(name, value))
  return String(value)
}
