/** Makes parsed JSON something that nobody can change. However deep it is: it was nested by somebody else. */
export function deepFreeze<T>(value: T): T {
  const pending: unknown[] = [value]
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (typeof one !== 'object' || one === null) continue
    Object.freeze(one)
    for (const inner of Object.values(one)) if (typeof inner === 'object') pending.push(inner)
  }
  return value
}
