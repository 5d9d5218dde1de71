import type { CommitBatch, StoreConnection, StoreDriver } from '../../src/index.ts'

/** Hooks that run before a connection's own methods. */
export interface ConnectionHooks {
  commit?(batch: CommitBatch): unknown
  probe?(): unknown
}

/** Wraps a driver so that the hooks run first; an error of a hook is the error of the call. */
export function watched(driver: StoreDriver, hooks: ConnectionHooks): StoreDriver {
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
