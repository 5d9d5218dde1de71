import type { Journal } from '@vitrine/journal'
import type { Machine } from '../machine/machine.ts'

/** How much a sandbox's processes may have. */
export interface ProcessLimits {
  /** How many may run at once, terminals included. */
  readonly processes: number
  /** How many that have ended are remembered. */
  readonly remembered: number
  /** Of each stream of an `exec`, unless it says otherwise. */
  readonly outputBytes: number
  /** Of the output of one process in the journal. */
  readonly journalBytes: number
  /** Of one input. */
  readonly inputBytes: number
}

export const defaultProcessLimits: ProcessLimits = {
  processes: 256,
  remembered: 256,
  outputBytes: 1024 * 1024,
  journalBytes: 16 * 1024 * 1024,
  inputBytes: 8 * 1024 * 1024,
}

/** What a process needs of its sandbox. */
export interface ProcessHost {
  readonly machine: Machine
  readonly journal: Journal
  readonly limits: ProcessLimits
}
