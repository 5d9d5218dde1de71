import { VitrineError } from '@vitrine/protocol'
import { type OpenStoreOptions, storeSettings } from './settings.ts'
import { Store } from './store.ts'
import type { StoreDriver } from './stores/contract.ts'

/**
 * Opens a store as its only owner. Work that a dead owner left open is closed once as `interrupted` before this
 * resolves.
 *
 * @example
 * await using store = await openStore(sqliteStore({ path: 'data/journal.db' }))
 */
export async function openStore(driver: StoreDriver, options: OpenStoreOptions = {}): Promise<Store> {
  if (typeof driver?.open !== 'function') {
    throw new VitrineError(
      'argument_invalid',
      "openStore: expected a store, such as sqliteStore({ path: 'data/journal.db' }).",
    )
  }
  const settings = storeSettings(options)
  const { takeover = false, readOnly = false } = options
  const connection = await driver.open({ takeover, readOnly })
  let store: Store | undefined
  try {
    const openWork = readOnly ? [] : await connection.openWork()
    if (openWork.length > 0) await options.killOrphans?.(openWork)
    // Loaded after the store is owned: until then its last owner may register more.
    const storage = readOnly ? undefined : options.secrets
    const loaded = storage?.load()
    const lastPosition = await connection.lastPosition()
    store = new Store(connection, settings, {
      lastPosition,
      openWork,
      blobBytes: await connection.blobBytes(),
      ...(storage && loaded && { secrets: { storage, kept: loaded.secrets } }),
    })
    await store.closeInterrupted(openWork)
    if (loaded !== undefined && loaded.notices.length > 0) {
      const host = await store.journal('host')
      await host.append(loaded.notices.map((notice) => ({ ...notice, derived: true as const })))
    }
    return store
  } catch (error) {
    await (store ?? connection).close()
    throw error
  }
}
