import type { Capabilities } from '@vitrine/protocol'

/** A sandbox as lists show it. */
export interface SandboxInfo {
  readonly id: string
  readonly provider: string
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: string
  /** `kept`: it does not run, and can be attached to. */
  readonly state: 'running' | 'kept' | 'destroyed'
}

/** What is known of a sandbox that runs. */
export interface SandboxDescription extends SandboxInfo {
  readonly root: string
  readonly capabilities: Capabilities
}
