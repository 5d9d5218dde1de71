import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreDriver } from '@vitrine/journal'
import { forwarding, type StoreCall } from './forward.ts'

export interface HeldDriver extends StoreDriver {
  /**
   * The next call of that name waits, before it reaches the store, until `meanwhile` is done, or until it is plain
   * that `meanwhile` has to wait for this call.
   */
  before(call: StoreCall, meanwhile: () => Promise<void>): void
  /** The next call of that name has been answered by the store, but its caller learns it only after `meanwhile`. */
  after(call: StoreCall, meanwhile: () => Promise<void>): void
  /** Calls that were waited for and never came. */
  readonly unused: readonly StoreCall[]
  /** How often each call came. */
  readonly calls: ReadonlyMap<StoreCall, number>
}

const blockedMs = 500

/** A driver that lets a test put something between two calls: what another process, or a slow database, can do too. */
export function held(driver: StoreDriver): HeldDriver {
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
      return forwarding(await driver.open(options), async (call, run) => {
        calls.set(call, (calls.get(call) ?? 0) + 1)
        await unlessBlocked(taken(before, call))
        const answer = await run()
        await unlessBlocked(taken(after, call))
        return answer
      })
    },
  }
}

function taken(
  from: Map<StoreCall, () => Promise<void>>,
  call: StoreCall,
): (() => Promise<void>) | undefined {
  const meanwhile = from.get(call)
  from.delete(call)
  return meanwhile
}

async function unlessBlocked(meanwhile: (() => Promise<void>) | undefined): Promise<void> {
  if (meanwhile) await Promise.race([meanwhile(), sleep(blockedMs)])
}
