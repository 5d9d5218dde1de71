import type { Fields } from '../../fields.ts'

/** Data as compact JSON; nothing where there is none. */
export function compact(data: unknown): string | undefined {
  if (data === undefined || data === null) return undefined
  if (typeof data === 'object' && Object.keys(data).length === 0) return undefined
  return JSON.stringify(data)
}

/** The rest of an event's data, when its named fields were said already. */
export function compactBut(data: Fields, ...said: readonly string[]): string | undefined {
  return compact(Object.fromEntries(Object.entries(data).filter(([key]) => !said.includes(key))))
}
