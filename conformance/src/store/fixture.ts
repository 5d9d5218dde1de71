import { type OpenStoreOptions, openStore, type Store, type StoreDriver } from '@vitrine/journal'
import { onTestFinished } from 'vitest'
import { type CrashingDriver, type CrashPoint, crashingDriver } from '../drivers/crashing-driver.ts'

/** One store that can be opened several times. */
export interface StoreUnderTest {
  /** A driver of the same store: data written through one driver is found through the next. */
  driver(): StoreDriver
  dispose(): Promise<void>
}

export type MakeStore = () => Promise<StoreUnderTest>

export interface StoreKitOptions {
  /** The number of random histories in the model test; default 50. */
  readonly histories?: number
}

/** A store for one test and its successive hosts. Everything is closed when the test ends. */
export interface StoreFixture {
  driver(): StoreDriver
  /** Opens it as a host that can crash. */
  open(options?: OpenStoreOptions, driver?: StoreDriver): Promise<Store>
  readOnly(options?: OpenStoreOptions, driver?: StoreDriver): Promise<Store>
  /** Crashes the host of this store without flushing anything. */
  crash(store: Store, when?: CrashPoint): Promise<void>
  /** Closes the store and opens it again. */
  reopen(store: Store, options?: OpenStoreOptions): Promise<Store>
}

export async function newStoreFixture(makeStore: MakeStore): Promise<StoreFixture> {
  const store = await makeStore()
  const hosts = new Map<Store, CrashingDriver>()
  onTestFinished(async () => {
    for (const store of [...hosts.keys()].reverse()) await store.close()
    await store.dispose()
  })
  const open = async (options: OpenStoreOptions = {}, driver = store.driver()) => {
    const host = crashingDriver(driver)
    const store = await openStore(host, options)
    hosts.set(store, host)
    return store
  }
  return {
    driver: () => store.driver(),
    open,
    readOnly: (options = {}, driver) => open({ ...options, readOnly: true }, driver),
    async crash(store, when) {
      await hosts.get(store)?.kill(when)
    },
    async reopen(store, options) {
      await store.close()
      return open(options)
    },
  }
}
