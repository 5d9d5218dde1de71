import { VitrineError } from '@vitrine/protocol'
import { type CommitBatch, memoryStore, type StoreConnection, type StoreDriver } from '../../src/index.ts'

/** The error of a commit, or undefined. */
export type Trouble = (batch: CommitBatch) => Error | undefined | Promise<Error | undefined>

export interface FlakyStore extends StoreDriver {
  trouble: Trouble
}

export const diskFull: Trouble = () => new VitrineError('store_failing', 'The disk is full.')
export const noTrouble: Trouble = () => undefined

/** A memory store whose commits a test can make fail or wait. */
export function flakyStore(): FlakyStore {
  const memory = memoryStore()
  const driver: FlakyStore = {
    kind: 'flaky',
    trouble: noTrouble,
    async open(options) {
      const connection = await memory.open(options)
      const commit = async (batch: CommitBatch) => {
        const error = await driver.trouble(batch)
        if (error) throw error
        await connection.commit(batch)
      }
      const probe = async () => {
        const nothing = {
          entries: [],
          heads: [],
          opened: [],
          closed: [],
          blobs: [],
          references: [],
          removals: [],
        }
        const error = await driver.trouble(nothing)
        if (error) throw error
      }
      return new Proxy(connection, {
        get(target, key: keyof StoreConnection) {
          if (key === 'commit') return commit
          if (key === 'probe') return probe
          const value = target[key]
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    },
  }
  return driver
}
