import type { Journal } from '@vitrine/journal'
import type { ProcessLimits } from '@vitrine/protocol'
import type { LimitWatch } from '../limits/limit-watch.ts'
import type { Machine } from '../machine/machine.ts'

export const defaultProcessLimits: ProcessLimits = {
  processes: 256,
  remembered: 256,
  outputBytes: 1024 * 1024,
  journalBytes: 16 * 1024 * 1024,
  inputBytes: 8 * 1024 * 1024,
}

/** The parts of a sandbox that a process needs. */
export interface ProcessHost {
  readonly machine: Machine
  readonly journal: Journal
  readonly limits: ProcessLimits
  /** Watches the limits of the machine; without it they are only enforced. */
  readonly watch?: LimitWatch
}
