import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreDriver } from '@vitrine/journal'
import { forwardingConnection, type StoreCall } from './forwarding-connection.ts'

export interface InterceptedDriver extends StoreDriver {
  /**
   * Runs `meanwhile` before the next call of this name reaches the store. The call continues after 500 ms if
   * `meanwhile` itself waits for it.
   */
  before(call: StoreCall, meanwhile: () => Promise<void>): void
  /** Runs `meanwhile` after the next call of this name, before its caller gets the result. */
  after(call: StoreCall, meanwhile: () => Promise<void>): void
  /** Registered calls that were never made. */
  readonly unused: readonly StoreCall[]
  /** How often each call was made. */
  readonly calls: ReadonlyMap<StoreCall, number>
}

const blockedMs = 500

/** A driver that lets a test run code between two calls, as another process or a slow database can. */
export function interceptedDriver(driver: StoreDriver): InterceptedDriver {
  const before = new Map<StoreCall, () => Promise<void>>()
  const after = new Map<StoreCall, () => Promise<void>>()
  const calls = new Map<StoreCall, number>()
  return {
    kind: driver.kind,
    calls,
    get unused() {
      return [...before.keys(), ...after.keys()]
    },
    before(call, meanwhile) {
      before.set(call, meanwhile)
    },
    after(call, meanwhile) {
      after.set(call, meanwhile)
    },
    async open(options) {
      return forwardingConnection(await driver.open(options), async (call, run) => {
        calls.set(call, (calls.get(call) ?? 0) + 1)
        await runUnlessBlocked(takeHook(before, call))
        const result = await run()
        await runUnlessBlocked(takeHook(after, call))
        return result
      })
    },
  }
}

function takeHook(
  from: Map<StoreCall, () => Promise<void>>,
  call: StoreCall,
): (() => Promise<void>) | undefined {
  const meanwhile = from.get(call)
  from.delete(call)
  return meanwhile
}

async function runUnlessBlocked(meanwhile: (() => Promise<void>) | undefined): Promise<void> {
  if (meanwhile) await Promise.race([meanwhile(), sleep(blockedMs)])
}
