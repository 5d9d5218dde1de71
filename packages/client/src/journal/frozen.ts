/** Makes parsed JSON something that nobody can change. However deep it is: it was nested by somebody else. */
export function frozen<T>(value: T): T {
  const waiting: unknown[] = [value]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (typeof one !== 'object' || one === null) continue
    Object.freeze(one)
    for (const inner of Object.values(one)) if (typeof inner === 'object') waiting.push(inner)
  }
  return value
}
