import { settledWithin } from '@vitrine/protocol/primitives'
import type { JournalMirror } from './journal-mirror.ts'
import type { ProviderCalls } from './provider-calls.ts'

/** How long a call waits for its events to be in the host's store. */
const syncMs = 5_000

export interface MirroredBy {
  readonly calls: ProviderCalls
  readonly mirror: JournalMirror
}

/**
 * The same object, with calls that settle after their events are in the host's store. An error without a code names the
 * provider and the method. Methods keep their own `this`, because they may use private fields.
 */
export function mirroredCalls<Target extends object>(target: Target, path: string, by: MirroredBy): Target {
  return new Proxy(target, {
    get(_target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const method = `${path}.${String(name)}`
      return (...given: unknown[]) => {
        let result: unknown
        try {
          result = value.apply(target, given)
        } catch (error) {
          throw by.calls.sandboxError(method, error)
        }
        return result instanceof Promise ? mirroredCall(method, result, by) : result
      }
    },
  })
}

export async function mirroredCall<Result>(
  method: string,
  call: Promise<Result>,
  { calls, mirror }: MirroredBy,
): Promise<Result> {
  try {
    return await call
  } catch (error) {
    throw calls.sandboxError(method, error)
  } finally {
    // Best effort: the mirror follows by itself too.
    await settledWithin(mirror.sync(), syncMs)
  }
}
