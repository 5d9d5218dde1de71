import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { volumeIn } from './volume.ts'

/**
 * Throws if a sandbox in its own folder gets another limit of disk space than it was created with, where that would give
 * it another workspace or have no effect: with a limit its files are in another folder, and a volume keeps its size.
 */
export function assertSameDiskLimit(own: string, diskBytes: number | undefined): void {
  const { image, draft, mountPoint } = volumeIn(own)
  const bytes = statSync(image, { throwIfNoEntry: false })?.size
  const isMeasured = bytes === undefined && !existsSync(draft) && existsSync(mountPoint)
  if (diskBytes === undefined) {
    if (bytes !== undefined || isMeasured) throw changed(own, bytes ?? 'a limit', 'none')
    return
  }
  // An empty file is a damaged volume, which the mount reports.
  if (bytes) {
    if (bytes !== diskBytes) throw changed(own, bytes, diskBytes)
    return
  }
  if (existsSync(join(own, 'workspace'))) throw changed(own, 'none', diskBytes)
}

function changed(own: string, expected: number | string, got: number | string): VitrineError {
  return new VitrineError(
    'argument_invalid',
    `limits.diskBytes: expected ${expected}, with which the sandbox in ${own} was created and which holds for its life, got ${got}. Start it as it was created, or create another sandbox and copy its files.`,
    { details: { limit: 'diskBytes', expected, got } },
  )
}
