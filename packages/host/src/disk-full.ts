import { VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'

/** Runs a write to the data directory, and names the full disk if that is why it fails. */
export function orDiskFull<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    const code = systemErrorCode(error)
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error
    throw new VitrineError('store_failing', `The disk of ${path} is full.`, {
      cause: error,
      details: { path },
    })
  }
}
