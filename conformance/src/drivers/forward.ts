import type { StoreConnection } from '@vitrine/journal'

/** The calls of a connection, by name. */
export type StoreCall = {
  [K in keyof StoreConnection]: StoreConnection[K] extends (...args: never[]) => unknown ? K : never
}[keyof StoreConnection]

/** Sees every call on its way to a connection: may delay it, refuse it, or learn how it went. */
export type Around = (call: StoreCall, run: () => Promise<unknown>) => Promise<unknown>

/** A connection that hands every call on, except those that are replaced. */
export function forwarding(
  real: StoreConnection,
  around: Around = (_call, run) => run(),
  replaced: Partial<StoreConnection> = {},
): StoreConnection {
  return new Proxy(real, {
    get(_target, name: keyof StoreConnection) {
      const own = replaced[name]
      if (own !== undefined) return own
      const value = real[name]
      if (typeof value !== 'function') return value
      // Which call it is, and so what it takes and gives, is between the store and the connection.
      const call = value.bind(real) as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) => around(name as StoreCall, () => call(...args))
    },
  })
}
