import type { Capabilities, SandboxInfo } from '@vitrine/protocol'

/** The server's description of a running sandbox. */
export interface SandboxDescription extends SandboxInfo {
  readonly root: string
  readonly capabilities: Capabilities
}
