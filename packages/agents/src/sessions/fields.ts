import type { JsonObject, JsonValue } from '@vitrine/protocol'

/** The object under a key, or the value itself without one. Messages of an agent are checked, never trusted. */
export function objectIn(value: unknown, key?: string): JsonObject | undefined {
  const found = key === undefined ? value : fieldOf(value, key)
  // The value comes from parsed JSON.
  return typeof found === 'object' && found !== null && !Array.isArray(found)
    ? (found as JsonObject)
    : undefined
}

export function textIn(value: unknown, key: string): string | undefined {
  const found = fieldOf(value, key)
  return typeof found === 'string' ? found : undefined
}

/** A finite number. */
export function numberIn(value: unknown, key: string): number | undefined {
  const found = fieldOf(value, key)
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

export function listIn(value: unknown, key: string): readonly JsonValue[] {
  const found = fieldOf(value, key)
  return Array.isArray(found) ? found : []
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

/** Removes properties that are undefined. */
export function withoutUndefined<T extends object>(
  fields: T,
): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> }
}
