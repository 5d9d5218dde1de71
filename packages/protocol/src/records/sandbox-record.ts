import * as z from 'zod/mini'
import { VitrineError } from '../errors/vitrine-error.ts'
import { checkSandboxId } from '../ids.ts'
import { lazily } from '../lazy.ts'
import { parseAs } from '../options/check-options.ts'
import { lifeTimes } from '../options/life-times.ts'
import { localOptions } from '../options/local.ts'
import { manifestOptions } from '../options/manifest.ts'
import { policyOptions } from '../options/policy.ts'
import { strict } from '../options/strict.ts'
import { optionally, texts, textsByName, whole } from '../options/values.ts'
import type { LifeTimes } from '../sandbox/life-times.ts'
import type { LocalOptions } from '../sandbox/local.ts'
import type { EncodedBytes, WorkspaceManifest } from '../sandbox/manifest.ts'
import type { CommandPolicyOptions } from '../sandbox/policy.ts'
import type { Command } from '../sandbox/processes.ts'
import { migrateRecord, recordVersion } from './migrate-record.ts'

/** A hook before a stop. A function cannot be stored, so its name stands for it. */
export type RecordedHook = { readonly command: Command } | { readonly function: string }

/** The stored description of a sandbox: everything that is needed to start it again as it was. */
export interface SandboxRecord extends LifeTimes {
  readonly version: typeof recordVersion
  readonly id: string
  readonly provider: string
  /** The id that its provider gave it; absent for `local`, and until the provider has created it. */
  readonly providerId?: string
  readonly state: 'stopped' | 'destroyed'
  readonly createdAt: string
  readonly labels: Readonly<Record<string, string>>
  /**
   * The options, with the defaults of the host that created the sandbox. Once a machine was built, `isolation` and `user`
   * are those of the machine.
   */
  readonly local: Omit<LocalOptions, 'data'>
  /** Absent in records of earlier versions, where `false` may also be a default limit that the machine could not enforce. */
  readonly limitsAsGiven?: true
  /** The features that its last machine did not have; absent before the first machine was built. */
  readonly degraded?: readonly string[]
  readonly policy?: CommandPolicyOptions
  /** The names of the secrets that its commands get. Their values are never part of a record. */
  readonly secrets?: readonly string[]
  /** Present if the creator gave a function that decides about `ask` rules. */
  readonly onAsk?: 'function'
  readonly beforeStop: readonly RecordedHook[]
  readonly skipOnPersist: readonly string[]
  /** Present once a hook before the stop has failed: the workspace may be half changed, so it is not persisted. */
  readonly persistenceBlocked?: true
  /** The whole manifest until the workspace is prepared; then only the parts that every start needs. */
  readonly workspace?: WorkspaceManifest<string | EncodedBytes>
  /** Identity of the workspace's directory: another directory at the same path is another workspace. */
  readonly directory?: { readonly path: string; readonly device: number; readonly inode: number }
}

const command = () => z.union([z.string(), texts()])

export const recordSchemas = lazily({
  sandbox: () =>
    strict({
      version: z.literal(recordVersion),
      id: z.string(),
      provider: z.string(),
      providerId: z.optional(z.string()),
      state: z.enum(['stopped', 'destroyed']),
      createdAt: z.string(),
      labels: textsByName(),
      ...lifeTimes(),
      local: localOptions.json,
      limitsAsGiven: z.optional(z.literal(true)),
      degraded: z.optional(texts()),
      policy: optionally(() => policyOptions.policy),
      secrets: z.optional(texts()),
      onAsk: z.optional(z.literal('function')),
      beforeStop: z.array(z.union([strict({ command: command() }), strict({ function: z.string() })])),
      skipOnPersist: texts(),
      persistenceBlocked: z.optional(z.literal(true)),
      workspace: optionally(() => manifestOptions.json),
      directory: optionally(() => strict({ path: z.string(), device: whole(), inode: whole() })),
    }),
})

/**
 * Parses a stored record. A record of an earlier version is migrated first; `defaults` are the options that the host
 * would have merged into it.
 *
 * @example
 * const record = parseSandboxRecord(JSON.parse(text), { defaults: { isolation: 'auto' } })
 */
export function parseSandboxRecord(
  stored: unknown,
  { defaults = {} }: { readonly defaults?: Omit<LocalOptions, 'data'> } = {},
): SandboxRecord {
  const migrated = migrateRecord(stored, defaults)
  if (migrated.version !== recordVersion)
    throw new VitrineError(
      'argument_invalid',
      `version: expected ${recordVersion} at most, got ${JSON.stringify(migrated.version)}; a newer Vitrine wrote the record.`,
    )
  // JSON has no `undefined`, so the exact optional properties of the type hold.
  const record = parseAs('record', recordSchemas.sandbox, migrated) as SandboxRecord
  checkSandboxId(record.id)
  return record
}
