import type { SandboxInfo } from './sandbox.ts'

/** Which sandboxes `prune` destroys: those that fit all given fields. */
export interface PruneOptions {
  /** Stopped sandboxes without an event in their journal for this many milliseconds; 0 for all stopped ones. */
  readonly stoppedMs: number
  readonly provider?: string
  /** Labels that a sandbox must have, with these values. */
  readonly labels?: Readonly<Record<string, string>>
  /** Running ones too, whatever they do; default false. */
  readonly running?: boolean
  /** Destroys nothing and returns what would be destroyed; default false. */
  readonly dryRun?: boolean
}

/** A sandbox that `prune` has destroyed, as it was before. */
export interface PrunedSandbox extends SandboxInfo {
  /** The disk space of its own folders; absent where it cannot be measured, as for another provider. */
  readonly freedBytes?: number
  /** Why it could not be destroyed. */
  readonly error?: { readonly code: string; readonly message: string }
}

export interface Pruned {
  readonly sandboxes: readonly PrunedSandbox[]
  /** The sum of their `freedBytes`, without those that could not be destroyed. */
  readonly freedBytes: number
}
