import type { StoreDriver } from '@vitrine/journal'
import { VitrineError } from '@vitrine/protocol'
import { forwardingConnection } from './forwarding-connection.ts'

export interface FailingDriver extends StoreDriver {
  /** While true, every write fails, like on a full disk. */
  full: boolean
}

/** A driver whose medium can become full and free again. */
export function failingDriver(driver: StoreDriver): FailingDriver {
  const wrapped: FailingDriver = {
    kind: driver.kind,
    full: false,
    async open(options) {
      return forwardingConnection(await driver.open(options), async (call, run) => {
        const writes = call === 'commit' || call === 'putBlob' || call === 'setSinkCursor' || call === 'probe'
        if (writes && wrapped.full) throw new VitrineError('store_failing', 'The disk is full.')
        return run()
      })
    },
  }
  return wrapped
}
