/**
 * A copy that its receiver may change. Committed events are JSON, so a plain deep copy is exact, and it is several
 * times faster than `structuredClone`.
 */
export function copyEvent<Event extends object>(event: Event): Event {
  return copy(event)
}

function copy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy) as T
  const result: Record<string, unknown> = {}
  for (const key in value) {
    if (key === '__proto__')
      Object.defineProperty(result, key, {
        value: copy(value[key]),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    else result[key] = copy(value[key])
  }
  return result as T
}
