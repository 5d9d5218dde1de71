import type { OpenWork } from '@vitrine/protocol'
import { checkOptions, storeOptions } from '@vitrine/protocol/options'
import { type BlobLimits, defaultBlobLimits } from './blobs/blobs.ts'
import { type PayloadPolicy, type PolicyRules, policyRules } from './policy/policy.ts'
import { createRedactor, type Redactor } from './redact/redactor.ts'
import { defaultRetention, type RetentionLimits } from './retention/retention.ts'
import type { OnTapError } from './taps/taps.ts'

export interface OpenStoreOptions {
  /** Fence off an owner that still lives. */
  readonly takeover?: boolean
  readonly readOnly?: boolean
  /** Called before what a dead owner left open is closed: end its survivors here. */
  readonly sweep?: (open: readonly OpenWork[]) => void | Promise<void>
  /** Of each journal. Default 1 GiB. */
  readonly retention?: RetentionLimits
  readonly blobs?: Partial<BlobLimits>
  readonly policy?: PayloadPolicy
  readonly policyByOp?: Readonly<Record<string, PayloadPolicy>>
  /** Mask well-known token shapes; default true. */
  readonly patterns?: boolean
  /** Appended but not yet committed; default 64 MiB. */
  readonly maxPendingBytes?: number
  /** Endings that wait for a failing disk; default 10,000. */
  readonly maxPendingEndings?: number
  /** What stays in memory for live readers; default 2,048 entries and 8 MiB. */
  readonly recent?: { readonly maxEntries?: number; readonly maxBytes?: number }
  /** Told when a tap throws or rejects. */
  readonly onTapError?: OnTapError
}

/** The options with nothing left open. */
export interface StoreSettings {
  readonly redactor: Redactor
  readonly retention: RetentionLimits
  readonly blobs: BlobLimits
  readonly policy: PolicyRules
  readonly maxPendingBytes: number
  readonly maxPendingEndings: number
  readonly recent: { readonly maxEntries: number; readonly maxBytes: number }
  readonly onTapError: OnTapError
}

export function storeSettings(options: OpenStoreOptions): StoreSettings {
  checkOptions('openStore', storeOptions.open, options)
  const { recent = {}, blobs = {} } = options
  return {
    redactor: createRedactor({ patterns: options.patterns ?? true }),
    retention: options.retention ?? defaultRetention,
    blobs: {
      maxBytes: blobs.maxBytes ?? defaultBlobLimits.maxBytes,
      maxTotalBytes: blobs.maxTotalBytes ?? defaultBlobLimits.maxTotalBytes,
    },
    policy: policyRules(options.policy, options.policyByOp),
    maxPendingBytes: options.maxPendingBytes ?? 64 * 1024 * 1024,
    maxPendingEndings: options.maxPendingEndings ?? 10_000,
    recent: { maxEntries: recent.maxEntries ?? 2_048, maxBytes: recent.maxBytes ?? 8 * 1024 * 1024 },
    onTapError: options.onTapError ?? (() => undefined),
  }
}
