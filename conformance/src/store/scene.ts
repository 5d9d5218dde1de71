import { type OpenStoreOptions, openStore, type Store, type StoreDriver } from '@vitrine/journal'
import { onTestFinished } from 'vitest'
import { type Death, type MortalDriver, mortal } from '../drivers/mortal.ts'

/** One store, however often it is opened. */
export interface StoreUnderTest {
  /** Drivers of the same store: what was written through one is found through the next. */
  driver(): StoreDriver
  dispose(): Promise<void>
}

export type MakeStore = () => Promise<StoreUnderTest>

export interface StoreKitOptions {
  /** How many random histories the model test tries; 50 by default. */
  readonly histories?: number
}

/** A store for one test, and the hosts that come and go on it. Everything is closed when the test ends. */
export interface Scene {
  driver(): StoreDriver
  /** Opens it as a host that may die. */
  open(options?: OpenStoreOptions, driver?: StoreDriver): Promise<Store>
  readOnly(options?: OpenStoreOptions, driver?: StoreDriver): Promise<Store>
  /** The host of that store dies, with nothing finished. */
  crash(store: Store, when?: Death): Promise<void>
  /** Closed, and opened again. */
  reopen(store: Store, options?: OpenStoreOptions): Promise<Store>
}

export async function newScene(makeStore: MakeStore): Promise<Scene> {
  const subject = await makeStore()
  const hosts = new Map<Store, MortalDriver>()
  onTestFinished(async () => {
    for (const store of [...hosts.keys()].reverse()) await store.close()
    await subject.dispose()
  })
  const open = async (options: OpenStoreOptions = {}, driver = subject.driver()) => {
    const host = mortal(driver)
    const store = await openStore(host, options)
    hosts.set(store, host)
    return store
  }
  return {
    driver: () => subject.driver(),
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
