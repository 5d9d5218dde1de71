import { createLocalSandbox, type LocalOptions, type LocalSandbox, local } from '@vitrine/sandbox'
import { beyondSystem } from './agent-folders.ts'
import type { InstallRequest } from './install-request.ts'
import type { NpmClient } from './npm-client.ts'
import type { Staging } from './staging.ts'

type SandboxParts = Pick<LocalOptions, 'root' | 'home' | 'egress' | 'binds' | 'env'>

/** A sandbox for one step, whose traces are all in the staging folder. */
export function openRoom(
  { isolation, signal }: InstallRequest,
  { data }: Staging,
  parts: SandboxParts,
): Promise<LocalSandbox> {
  return createLocalSandbox({ provider: local({ ...parts, data, isolation, watch: false }), signal })
}

/** What npm and agents run on, where the system does not have it. */
export function programs(npm?: NpmClient): { source: string }[] {
  const needed = [process.execPath, ...(npm === undefined ? [] : [npm.folder])]
  return beyondSystem(needed).map((source) => ({ source }))
}
