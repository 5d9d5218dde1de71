/** Freezes parsed JSON. Iterative, because the nesting comes from the server and may be deep. */
export function deepFreeze<T>(value: T): T {
  const pending: unknown[] = [value]
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (typeof one !== 'object' || one === null) continue
    Object.freeze(one)
    for (const inner of Object.values(one)) if (typeof inner === 'object') pending.push(inner)
  }
  return value
}
