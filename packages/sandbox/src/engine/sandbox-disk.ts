import { dirname } from 'node:path'
import type { MachineLimits } from '@vitrine/protocol'
import { DiskAccount } from '../disk/disk-account.ts'
import { mountVolume, reasonWithoutVolumes, removeVolume, unmountVolume } from '../disk/volume.ts'
import type { DiskLimit } from '../limits/watched-sandbox.ts'
import type { Degradation, Machine } from '../machine/machine.ts'
import type { SandboxSettings } from './settings.ts'

/** The disk space of a sandbox: on a volume of its own, or measured in its folders. */
export class SandboxDisk {
  readonly #settings: Pick<SandboxSettings, 'folders' | 'binds' | 'rootfs'>
  readonly #max: MachineLimits['diskBytes']
  #isMounted = false
  #withoutVolume: string | undefined

  constructor({ folders, binds, rootfs, machineLimits }: SandboxSettings) {
    this.#settings = { folders, binds, rootfs }
    this.#max = machineLimits.diskBytes
  }

  /** Mounts the volume, if the sandbox has one. Without volumes on this host, its folder is an ordinary one. */
  async open(): Promise<void> {
    const { volume } = this.#settings.folders
    if (volume === undefined || this.#max === undefined) return
    const { reason } = await mountVolume(volume, this.#max)
    this.#isMounted = reason === undefined
    this.#withoutVolume = reason
  }

  async close(): Promise<void> {
    const { volume } = this.#settings.folders
    if (volume === undefined || !this.#isMounted) return
    this.#isMounted = !(await unmountVolume(volume))
  }

  /** Removes the volume with its files. No process of the sandbox may run. */
  async remove(): Promise<void> {
    const { volume } = this.#settings.folders
    if (volume !== undefined) await removeVolume(volume)
    this.#isMounted = false
  }

  /** Why the disk space is measured although the sandbox could have a volume. */
  get degraded(): readonly Degradation[] {
    return this.#withoutVolume === undefined ? [] : [{ feature: 'disk-exact', reason: this.#withoutVolume }]
  }

  /** How a limit of disk space is enforced for the workspace of this sandbox. */
  get kind(): 'disk-exact' | 'disk-accounted' {
    const { managed, volume } = this.#settings.folders
    const exact = volume === undefined ? managed && reasonWithoutVolumes() === undefined : this.#isMounted
    return exact && this.#measured.length === 0 ? 'disk-exact' : 'disk-accounted'
  }

  /** The size of the volume that holds the workspace, if it has one. */
  get volumeBytes(): number | undefined {
    return this.#isMounted ? this.#max : undefined
  }

  /** The path whose device and inode identify the workspace: its directory, or the file that holds it. */
  get identifiedBy(): string {
    const { root, volume } = this.#settings.folders
    return volume !== undefined && this.#isMounted ? volume.image : root
  }

  /** The limit to watch, with a first measurement of the folders, which exist. */
  async limit(machine: Pick<Machine, 'pids'>): Promise<DiskLimit | undefined> {
    const { volume } = this.#settings.folders
    const folders = this.#measured
    if (this.#max === undefined) return undefined
    const account =
      folders.length === 0 ? undefined : new DiskAccount(folders, this.#max, () => machine.pids())
    await account?.measure()
    return {
      max: this.#max,
      ...(volume !== undefined &&
        this.#isMounted && { volume: { mountPoint: volume.mountPoint, onDisk: dirname(volume.image) } }),
      ...(account && { account }),
    }
  }

  /** The folders that are not on the volume. */
  get #measured(): string[] {
    const { folders, binds, rootfs } = this.#settings
    const { root, home, staging, system, volume, homeGiven, managed } = folders
    const isOnVolume = volume === undefined ? managed && this.#max === undefined : this.#isMounted
    const own = isOnVolume
      ? homeGiven
        ? [home]
        : []
      : [root, home, staging, ...(rootfs === 'writable' ? [system] : [])]
    const bound = binds.filter(({ writable }) => writable).map(({ source }) => source)
    return [...own, ...bound]
  }
}
