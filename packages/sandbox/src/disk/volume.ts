import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { VitrineError } from '@vitrine/protocol'
import { isMountPoint } from './mount-points.ts'

const run = promisify(execFile)
const programMs = 60_000
const unmountMs = 3_000

/** A file with a file system of limited size, and the folder where it is mounted. */
export interface VolumePaths {
  readonly image: string
  /** The file until it is mounted for the first time. While it exists, nothing was written to the volume. */
  readonly draft: string
  readonly mountPoint: string
}

/** The volume of a sandbox, in its own folder. */
export function volumeIn(own: string): VolumePaths {
  return { image: join(own, 'disk.img'), draft: join(own, 'disk.img.new'), mountPoint: join(own, 'disk') }
}

/** Why this process cannot mount volumes; undefined if it probably can. */
export function reasonWithoutVolumes(): string | undefined {
  if (process.platform !== 'linux') return 'volumes need Linux'
  if (process.getuid?.() !== 0) return 'the host does not run as root'
  if (!existsSync('/dev/loop-control')) return 'the kernel has no loop devices'
  const folders = environment().PATH.split(':')
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
export async function mountVolume(volume: VolumePaths, bytes: number): Promise<{ readonly reason?: string }> {
  const { image, draft, mountPoint } = volume
  if (existsSync(image)) {
    await mountExisting(volume)
    return {}
  }
  // A host that was killed while it made the volume has left it.
  if (existsSync(draft)) await removeDraft(volume)
  if (existsSync(mountPoint)) return { reason: 'the sandbox was created where volumes cannot be mounted' }
  const reason = reasonWithoutVolumes() ?? (await mountNew(volume, bytes))
  if (reason === undefined) return {}
  mkdirSync(mountPoint, { mode: 0o755 })
  return { reason }
}

async function mountExisting({ image, mountPoint }: VolumePaths): Promise<void> {
  mkdirSync(mountPoint, { recursive: true, mode: 0o755 })
  if (isMountPoint(mountPoint)) return
  try {
    await mount(image, mountPoint)
  } catch (error) {
    throw new VitrineError(
      'restriction_unavailable',
      `The disk ${image} of the sandbox cannot be mounted: ${textOf(error)}`,
      { cause: error },
    )
  }
}

/** Resolves to the reason if that fails. The file gets its name last: whoever finds it knows that it can be mounted. */
async function mountNew(volume: VolumePaths, bytes: number): Promise<string | undefined> {
  const { image, draft, mountPoint } = volume
  try {
    await makeImage(draft, bytes)
    mkdirSync(mountPoint, { mode: 0o755 })
    await mount(draft, mountPoint)
    renameSync(draft, image)
    return undefined
  } catch (error) {
    await removeDraft(volume)
    return textOf(error)
  }
}

/** The file is removed last: if the host is killed meanwhile, the next start does the rest. */
async function removeDraft(volume: VolumePaths): Promise<void> {
  const { draft, mountPoint } = volume
  await unmountVolume(volume)
  if (existsSync(mountPoint)) rmdirSync(mountPoint)
  rmSync(draft, { force: true })
}

/** Unmounts a volume. Resolves to false if it stays mounted, because it is in use. */
export async function unmountVolume({ mountPoint }: VolumePaths): Promise<boolean> {
  for (const until = performance.now() + unmountMs; isMountPoint(mountPoint); await sleep(20)) {
    if (await unmount(mountPoint)) continue
    if (performance.now() > until) return false
  }
  return true
}

/**
 * Removes a volume with its files. No process of the sandbox may run. If another program still uses it, such as a shell in
 * the workspace, it disappears from the host's folders now, and from the disk when that program ends.
 */
export async function removeVolume(volume: VolumePaths): Promise<void> {
  const { image, draft, mountPoint } = volume
  if (isMountPoint(mountPoint) && !(await unmount(mountPoint))) await unmount(mountPoint, '--lazy')
  rmSync(mountPoint, { recursive: true, force: true })
  for (const path of [image, draft]) rmSync(path, { force: true })
}

async function makeImage(path: string, bytes: number): Promise<void> {
  writeFileSync(path, '', { mode: 0o600 })
  truncateSync(path, bytes)
  // No block is reserved for root; unwritten tables stay holes of the file.
  const features = ['-m', '0', '-E', 'lazy_itable_init=1,nodiscard']
  await run('mkfs.ext4', ['-q', '-F', ...features, path], { env: environment(), timeout: programMs })
}

/**
 * `discard` returns the blocks of deleted files to the host's disk. The others make the volume read-only when the host's
 * disk is full, and the file cannot grow: by default, writes would succeed and their data be lost.
 */
async function mount(image: string, mountPoint: string): Promise<void> {
  const options = [
    '-t',
    'ext4',
    '-o',
    'loop,nosuid,nodev,discard,errors=remount-ro,data_err=abort',
    image,
    mountPoint,
  ]
  await run('mount', options, { env: environment(), timeout: programMs })
}

/** Resolves to false if it is in use. */
export async function unmount(mountPoint: string, ...options: readonly string[]): Promise<boolean> {
  return run('umount', [...options, mountPoint], { env: environment(), timeout: programMs }).then(
    () => true,
    () => false,
  )
}

/** For daemons whose PATH has no folders for administrators. */
function environment(): { readonly PATH: string; readonly LC_ALL: 'C' } {
  return {
    PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin`,
    LC_ALL: 'C',
  }
}

function textOf(error: unknown): string {
  const stderr: unknown = error instanceof Error ? Reflect.get(error, 'stderr') : undefined
  return typeof stderr === 'string' && stderr.trim() !== '' ? stderr.trim() : String(error)
}
