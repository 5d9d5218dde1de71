import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mountPointsBelow } from './mount-points.ts'
import { unmount, volumeIn } from './volume.ts'

/**
 * Unmounts the volumes in a data directory that a dead host left mounted. One that is in use stays. The caller owns the
 * data directory.
 *
 * @example
 * await unmountLeftVolumes('/var/lib/vitrine')
 */
export async function unmountLeftVolumes(data: string): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return
  const sandboxes = join(data, 'sandboxes')
  for (const path of mountPointsBelow(sandboxes)) {
    const own = dirname(path)
    const { image, draft, mountPoint } = volumeIn(own)
    // Other mounts are the operator's: a disk for all sandboxes, for example.
    const isVolume = dirname(own) === sandboxes && path === mountPoint
    if (isVolume && (existsSync(image) || existsSync(draft))) await unmount(path)
  }
}
