import { createLocalSandbox, type LocalOptions, type LocalSandbox, local } from '@vitrine/sandbox'
import { outsideSystem } from './agent-folders.ts'
import type { InstallRequest } from './install-request.ts'
import type { NpmClient } from './npm-client.ts'
import type { InstallStaging } from './staging.ts'

type SandboxParts = Pick<LocalOptions, 'root' | 'home' | 'egress' | 'binds' | 'env'>

/** Creates a sandbox for one step of an installation, with all its data in the staging folder. */
export function openInstallSandbox(
  { isolation, signal }: InstallRequest,
  { data }: InstallStaging,
  parts: SandboxParts,
): Promise<LocalSandbox> {
  return createLocalSandbox({ provider: local({ ...parts, data, isolation, watch: false }), signal })
}

/** Binds for Node and npm where they are not in system folders. */
export function programs(npm?: NpmClient): { source: string }[] {
  const needed = [process.execPath, ...(npm === undefined ? [] : [npm.folder])]
  return outsideSystem(needed).map((source) => ({ source }))
}
