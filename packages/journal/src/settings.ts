import type { OnObserverError, OpenWork } from '@vitrine/protocol'
import { checkOptions, storeOptions } from '@vitrine/protocol/options'
import { type BlobLimits, defaultBlobLimits } from './blobs/blobs.ts'
import { type PayloadPolicy, type PolicyRules, policyRules } from './policy/policy.ts'
import { createRedactor, type Redactor } from './redact/redactor.ts'
import { defaultRetention, type RetentionLimits } from './retention/retention.ts'
import type { SecretStorage } from './secrets/secret-storage.ts'

export interface OpenStoreOptions {
  /** Take the store over from an owner that is still alive. */
  readonly takeover?: boolean
  readonly readOnly?: boolean
  /** Called before the work that a dead owner left open is closed: kill its surviving processes here. */
  readonly killOrphans?: (open: readonly OpenWork[]) => void | Promise<void>
  /** Limits of each journal; default 1 GiB. */
  readonly retention?: RetentionLimits
  readonly blobs?: Partial<BlobLimits>
  readonly policy?: PayloadPolicy
  readonly policyByOp?: Readonly<Record<string, PayloadPolicy>>
  /** Mask well-known token shapes; default true. */
  readonly patterns?: boolean
  /** Keeps registered secrets for the next owner of the store: `secretsFile({ path, key })`. Default: memory only. */
  readonly secrets?: SecretStorage
  /** Bytes that may be appended and not yet committed; default 64 MiB. */
  readonly maxPendingBytes?: number
  /** End events that may be queued while the disk fails; default 10,000. */
  readonly maxPendingEndings?: number
  /** Recent events that stay in memory for live readers; default 2,048 entries and 8 MiB. */
  readonly recent?: { readonly maxEntries?: number; readonly maxBytes?: number }
  /** How long closing waits for sinks to catch up, to finish a write, and to close; default 2 s each. */
  readonly closeMs?: number
  /** Called for each error of an observer, such as a tap. */
  readonly onObserverError?: OnObserverError
}

/** The options with all defaults filled in. */
export interface StoreSettings {
  readonly redactor: Redactor
  readonly retention: RetentionLimits
  readonly blobs: BlobLimits
  readonly policy: PolicyRules
  readonly maxPendingBytes: number
  readonly maxPendingEndings: number
  readonly recent: { readonly maxEntries: number; readonly maxBytes: number }
  readonly closeMs: number
  readonly onObserverError: OnObserverError | undefined
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
    closeMs: options.closeMs ?? 2_000,
    onObserverError: options.onObserverError,
  }
}
