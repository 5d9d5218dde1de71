/** A promise that is awaited later: until then its rejection is nobody's fault. */
export function background<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}
