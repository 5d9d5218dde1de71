import { existsSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mountPointsBelow } from '../disk/mount-points.ts'
import { removeVolume, unmount, volumeIn } from '../disk/volume.ts'
import { readRow } from '../machine/process-table.ts'

/**
 * Unmounts the volumes in a data directory that a dead host left mounted. One that is in use stays. The caller owns the
 * data directory.
 *
 * @example
 * await unmountLeftVolumes('/var/lib/vitrine')
 */
export async function unmountLeftVolumes(data: string): Promise<void> {
  if (!mayUnmount()) return
  for (const { mountPoint } of mountedVolumes(join(data, 'sandboxes'))) await unmount(mountPoint)
}

/** Removes the volume of a stopped sandbox with its files, also one that a dead host left mounted. */
export async function removeLeftVolume(data: string, sandbox: string): Promise<void> {
  if (mayUnmount()) await removeVolume(volumeIn(join(data, 'sandboxes', sandbox)))
}

/** Notes that a temporary data directory ends with this process, so that another process may unmount its volumes then. */
export function ownTemporaryData(data: string): void {
  writeFileSync(join(data, ownerFile), thisProcess(), { mode: 0o600 })
}

/** Unmounts the volumes in temporary data directories whose process is dead. One that is in use stays. */
export async function unmountVolumesOfDead(): Promise<void> {
  if (!mayUnmount()) return
  for (const { mountPoint, data } of mountedVolumes('')) if (isDeadOwner(data)) await unmount(mountPoint)
}

const ownerFile = 'owner'

function mayUnmount(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0
}

interface MountedVolume {
  readonly mountPoint: string
  readonly data: string
}

/** The volumes below a folder. Other mounts are the operator's: a disk for all sandboxes, for example. */
function mountedVolumes(folder: string): MountedVolume[] {
  return mountPointsBelow(folder).flatMap((path) => {
    const own = dirname(path)
    const { image, draft, mountPoint } = volumeIn(own)
    const sandboxes = dirname(own)
    const isVolume = path === mountPoint && sandboxes.endsWith('/sandboxes')
    if (!isVolume || (folder !== '' && sandboxes !== folder)) return []
    return existsSync(image) || existsSync(draft) ? [{ mountPoint, data: dirname(sandboxes) }] : []
  })
}

/** A process of another process namespace cannot be seen, so it counts as alive. */
function isDeadOwner(data: string): boolean {
  try {
    const [pid, startedAt, namespace] = readFileSync(join(data, ownerFile), 'utf8').split(' ')
    if (namespace !== pidNamespace() || !(Number(startedAt) > 0)) return false
    return readRow(Number(pid))?.startedAt !== Number(startedAt)
  } catch {
    return false
  }
}

function thisProcess(): string {
  return `${process.pid} ${readRow(process.pid)?.startedAt ?? 0} ${pidNamespace()}`
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return 'none'
  }
}
