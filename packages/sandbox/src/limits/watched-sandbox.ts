import type { Journal } from '@vitrine/journal'
import type { DiskAccount } from '../disk/disk-account.ts'
import type { Machine } from '../machine/machine.ts'

/** A command that runs. */
export interface WatchedProcess {
  readonly id: string
  readonly top: number
  readonly startedAt: number
  /** When it began, in the time of `performance.now()`. */
  readonly began: number
}

export interface WatchedSandbox {
  readonly machine: Machine
  /** For events that belong to no call. */
  readonly journal: Journal
  running(): readonly WatchedProcess[]
  /** Settles when the commands that are starting now run or have failed. */
  startsSettled(): Promise<void>
  isPaused(): boolean
  readonly disk?: DiskLimit
}

/** The limit of disk space. */
export interface DiskLimit {
  readonly max: number
  /** Where the file system of the sandbox's own folders is mounted, and the host's folder that holds its file. */
  readonly volume?: { readonly mountPoint: string; readonly onDisk: string }
  /** Measures the folders that are not on the volume. */
  readonly account?: DiskAccount
}
