import type { StoreConnection } from '@vitrine/journal'

/** The names of a connection's methods. */
export type StoreCall = {
  [K in keyof StoreConnection]: StoreConnection[K] extends (...args: never[]) => unknown ? K : never
}[keyof StoreConnection]

/** Wraps every call to a connection: it may delay it, reject it, or observe its result. */
export type CallInterceptor = (call: StoreCall, run: () => Promise<unknown>) => Promise<unknown>

/** A connection that forwards every call, except for the replaced methods. */
export function forwardingConnection(
  real: StoreConnection,
  intercept: CallInterceptor = (_call, run) => run(),
  replacements: Partial<StoreConnection> = {},
): StoreConnection {
  return new Proxy(real, {
    get(_target, name: keyof StoreConnection) {
      const replacement = replacements[name]
      if (replacement !== undefined) return replacement
      const value = real[name]
      if (typeof value !== 'function') return value
      // Arguments and result are opaque here: the store and the connection agree on their types.
      const call = value.bind(real) as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) => intercept(name as StoreCall, () => call(...args))
    },
  })
}
