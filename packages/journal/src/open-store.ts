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
    const lastPosition = await connection.lastPosition()
    store = new Store(connection, settings, {
      lastPosition,
      openWork,
      blobBytes: await connection.blobBytes(),
    })
    await store.closeInterrupted(openWork)
    return store
  } catch (error) {
    await (store ?? connection).close()
    throw error
  }
}
