import type { CommitBatch, StoreConnection, StoreDriver } from '../../src/index.ts'

/** What a test may put in front of a connection's own methods. */
export interface Hooks {
  commit?(batch: CommitBatch): unknown
  probe?(): unknown
}

/** The same driver, with the hooks called first: what they throw is what the store meets. */
export function watched(driver: StoreDriver, hooks: Hooks): StoreDriver {
  return {
    kind: driver.kind,
    async open(options) {
      const connection = await driver.open(options)
      const commit = connection.commit.bind(connection)
      const probe = connection.probe.bind(connection)
      const watching: Pick<StoreConnection, 'commit' | 'probe'> = {
        async commit(batch) {
          await hooks.commit?.(batch)
          await commit(batch)
        },
        async probe() {
          await hooks.probe?.()
          await probe()
        },
      }
      return Object.assign(connection, watching)
    },
  }
}
