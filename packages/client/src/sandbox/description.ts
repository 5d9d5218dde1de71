import type { Capabilities, SandboxInfo } from '@vitrine/protocol'

/** What is known of a sandbox that runs. */
export interface SandboxDescription extends SandboxInfo {
  readonly root: string
  readonly capabilities: Capabilities
}
