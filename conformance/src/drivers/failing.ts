import type { StoreDriver } from '@vitrine/journal'
import { VitrineError } from '@vitrine/protocol'
import { forwarding } from './forward.ts'

export interface FailingDriver extends StoreDriver {
  /** While true, the medium takes nothing: as a full disk. */
  full: boolean
}

/** A driver whose medium can become full and have room again. */
export function failing(driver: StoreDriver): FailingDriver {
  const failingDriver: FailingDriver = {
    kind: driver.kind,
    full: false,
    async open(options) {
      return forwarding(await driver.open(options), async (call, run) => {
        const writes = call === 'commit' || call === 'putBlob' || call === 'setSinkCursor' || call === 'probe'
        if (writes && failingDriver.full) throw new VitrineError('store_failing', 'The disk is full.')
        return run()
      })
    },
  }
  return failingDriver
}
