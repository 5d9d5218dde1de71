import { type OpenWork, VitrineError } from '@vitrine/protocol'
import { recoveryEvents } from './recovery.ts'
import { type OpenStoreOptions, storeSettings } from './settings.ts'
import { Store } from './store.ts'
import type { StoreDriver } from './stores/contract.ts'

const ownerDied = 'Its host ended before it did.'

/**
 * Opens a store as its one owner. What a dead owner left open is closed as `interrupted`, once, before this resolves.
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
    if (openWork.length > 0) await options.sweep?.(openWork)
    const lastPosition = await connection.lastPosition()
    store = new Store(connection, settings, {
      lastPosition,
      openWork,
      blobBytes: await connection.blobBytes(),
    })
    await closeInterrupted(store, openWork)
    return store
  } catch (error) {
    await (store ?? connection).close()
    throw error
  }
}

async function closeInterrupted(store: Store, openWork: readonly OpenWork[]): Promise<void> {
  for (const [id, open] of Map.groupBy(openWork, (work) => work.journal)) {
    const journal = await store.journal(id)
    await journal.append(recoveryEvents(open, ownerDied))
  }
}
