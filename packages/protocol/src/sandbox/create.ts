import type { JsonObject } from '../json.ts'
import type { LifeTimes } from './life-times.ts'
import type { LocalOptions, SandboxLimits } from './local.ts'
import type { WorkspaceManifest } from './manifest.ts'
import type { CommandPolicyOptions } from './policy.ts'

/**
 * The options of a new sandbox, the same in process and over HTTP. An option that the provider does not take is refused
 * with `unsupported`.
 *
 * @example
 * await client.create({ workspace: { files: { 'a.txt': 'hi' } }, egress: ['registry.npmjs.org:443'] })
 */
export interface CreateSandboxOptions extends LifeTimes {
  readonly id?: string
  /** The name of one of the host's providers; default `local`. */
  readonly provider?: string
  /** The provider's own options, given to its `create` unchanged. */
  readonly spec?: JsonObject
  /** Options of the provider `local`. */
  readonly local?: Omit<LocalOptions, 'data'>
  /** The image that the sandbox starts from. */
  readonly image?: string
  /** Contents of a new workspace. */
  readonly workspace?: WorkspaceManifest
  /** Rules for commands, and the verdict for commands that no rule matches. */
  readonly policy?: CommandPolicyOptions
  /** Hosts and ports that the sandbox may connect to: `['registry.example:443']`. */
  readonly egress?: readonly string[]
  readonly limits?: SandboxLimits
  /** Environment of every command. */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Variables of every command whose values are masked in every event. Only their names are recorded, so an attach of
   * a later host has to give them again.
   */
  readonly secrets?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  /** Cancels the creation and removes what it has made: record, processes and folders. */
  readonly signal?: AbortSignal
}
