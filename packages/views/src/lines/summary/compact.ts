import type { Fields } from '../../fields.ts'

/** Data as compact JSON; `undefined` if it is empty. */
export function compact(data: unknown): string | undefined {
  if (data === undefined || data === null) return undefined
  if (typeof data === 'object' && Object.keys(data).length === 0) return undefined
  return JSON.stringify(data)
}

/** The data without the fields that the summary already shows, as compact JSON. */
export function compactBut(data: Fields, ...shown: readonly string[]): string | undefined {
  return compact(Object.fromEntries(Object.entries(data).filter(([key]) => !shown.includes(key))))
}
