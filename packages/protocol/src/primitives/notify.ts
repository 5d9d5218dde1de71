/** A function that observes values. It may be asynchronous; its result is not used. */
export type Listener<Value> = (value: Value) => unknown

/**
 * Calls a listener, whose error goes to `onError`, whether it is thrown or rejected. Returns undefined if the listener has
 * ended, else a promise that resolves when it ends.
 */
export function notifyOne<Value>(
  listener: Listener<Value>,
  value: Value,
  onError: (error: unknown) => void,
): Promise<void> | undefined {
  try {
    const returned = listener(value)
    if (typeof returned !== 'object' || returned === null) return undefined
    return Promise.resolve(returned).then(() => undefined, onError)
  } catch (error) {
    onError(error)
    return undefined
  }
}

/**
 * Calls every listener of a set. The error of one does not keep the value from the others. A listener that is added
 * meanwhile does not get the value, and neither does one that is removed before its turn.
 *
 * @example
 * notify(this.#listeners, event, (error) => this.#errors.report('session.onEvent', error, event))
 */
export function notify<Value>(
  listeners: ReadonlySet<Listener<Value>>,
  value: Value,
  onError: (error: unknown) => void,
): void {
  for (const listener of [...listeners]) if (listeners.has(listener)) void notifyOne(listener, value, onError)
}
