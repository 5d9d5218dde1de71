import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { VitrineError } from '@vitrine/protocol'
import { mountPointsBelow } from './mount-points.ts'

const run = promisify(execFile)
const programMs = 60_000
const unmountMs = 3_000
/** For daemons whose PATH has no folders for administrators. */
const environment = {
  PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin`,
  LC_ALL: 'C',
}

/** A file with a file system of limited size, and the folder where it is mounted. */
export interface VolumePaths {
  readonly image: string
  readonly mountPoint: string
}

/** The volume of a sandbox, in its own folder. */
export function volumeIn(own: string): VolumePaths {
  return { image: join(own, 'disk.img'), mountPoint: join(own, 'disk') }
}

/** Why this process cannot mount volumes; undefined if it probably can. */
export function reasonWithoutVolumes(): string | undefined {
  if (process.platform !== 'linux') return 'volumes need Linux'
  if (process.getuid?.() !== 0) return 'the host does not run as root'
  if (!existsSync('/dev/loop-control')) return 'the kernel has no loop devices'
  const folders = environment.PATH.split(':')
  const missing = ['mkfs.ext4', 'mount', 'umount'].find(
    (name) => !folders.some((folder) => folder !== '' && existsSync(join(folder, name))),
  )
  return missing === undefined ? undefined : `the program ${missing} is not installed`
}

/**
 * Mounts the volume of a sandbox, a new one if there is none yet. Resolves to the reason if a new one cannot be mounted:
 * its folder is then an ordinary one. An existing volume is mounted or the call fails, since without it the workspace
 * would be another.
 */
export async function mountVolume(
  { image, mountPoint }: VolumePaths,
  bytes: number,
): Promise<{ readonly reason?: string }> {
  const exists = existsSync(image)
  const isFolder = !exists && existsSync(mountPoint)
  if (isFolder) return { reason: 'the sandbox was created where volumes cannot be mounted' }
  const reason = reasonWithoutVolumes()
  if (!exists && reason !== undefined) return plainFolder(mountPoint, reason)
  mkdirSync(mountPoint, { recursive: true, mode: 0o755 })
  if (isMounted(mountPoint)) return {}
  try {
    if (!exists) await makeImage(image, bytes)
    await mount(image, mountPoint)
    return {}
  } catch (error) {
    if (!exists) {
      rmSync(image, { force: true })
      return plainFolder(mountPoint, textOf(error))
    }
    throw new VitrineError(
      'restriction_unavailable',
      `The disk ${image} of the sandbox cannot be mounted: ${textOf(error)}`,
      { cause: error },
    )
  }
}

/** Unmounts a volume. Resolves to false if it stays mounted, because it is in use. */
export async function unmountVolume({ mountPoint }: VolumePaths): Promise<boolean> {
  for (const until = performance.now() + unmountMs; isMounted(mountPoint); await sleep(20)) {
    if (await unmount(mountPoint)) continue
    if (performance.now() > until) return false
  }
  return true
}

/**
 * Unmounts the volumes in a data directory, or that of one sandbox, that a dead host left mounted. One that is in use
 * stays.
 *
 * @example
 * await unmountLeftVolumes('/var/lib/vitrine')
 */
export async function unmountLeftVolumes(data: string, sandbox = ''): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return
  const sandboxes = join(data, 'sandboxes')
  for (const path of mountPointsBelow(join(sandboxes, sandbox))) {
    const own = dirname(path)
    // Other mounts are the operator's: a disk for all sandboxes, for example.
    const isVolume = dirname(own) === sandboxes && path === volumeIn(own).mountPoint
    if (isVolume && existsSync(volumeIn(own).image)) await unmount(path)
  }
}

function isMounted(mountPoint: string): boolean {
  return mountPointsBelow(mountPoint).includes(mountPoint)
}

/** Written completely before it gets its name: a host that is killed meanwhile leaves no half-made volume. */
async function makeImage(image: string, bytes: number): Promise<void> {
  const draft = `${image}.new`
  writeFileSync(draft, '', { mode: 0o600 })
  truncateSync(draft, bytes)
  // No block is reserved for root; unwritten tables stay holes of the file.
  const features = ['-m', '0', '-E', 'lazy_itable_init=1,nodiscard']
  await run('mkfs.ext4', ['-q', '-F', ...features, draft], { env: environment, timeout: programMs })
  renameSync(draft, image)
}

/** `discard` returns the blocks of deleted files to the host's disk. */
async function mount(image: string, mountPoint: string): Promise<void> {
  const options = ['-t', 'ext4', '-o', 'loop,nosuid,nodev,discard', image, mountPoint]
  await run('mount', options, { env: environment, timeout: programMs })
}

async function unmount(mountPoint: string): Promise<boolean> {
  return run('umount', [mountPoint], { env: environment, timeout: programMs }).then(
    () => true,
    () => false,
  )
}

function plainFolder(mountPoint: string, reason: string): { readonly reason: string } {
  mkdirSync(mountPoint, { recursive: true, mode: 0o755 })
  return { reason }
}

function textOf(error: unknown): string {
  const stderr: unknown = error instanceof Error ? Reflect.get(error, 'stderr') : undefined
  return typeof stderr === 'string' && stderr.trim() !== '' ? stderr.trim() : String(error)
}
