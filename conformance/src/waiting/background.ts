/** Marks a promise as handled that is awaited later, so that an early rejection is not reported as unhandled. */
export function background<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}
