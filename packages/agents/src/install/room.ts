import { createSandbox, type LocalOptions, type LocalSandbox, local } from '@vitrine/sandbox'
import type { NpmClient } from './npm-client.ts'
import type { Order } from './order.ts'
import type { Staging } from './staging.ts'

type SandboxParts = Pick<LocalOptions, 'root' | 'home' | 'reach' | 'binds' | 'env'>

/** A sandbox for one step, whose traces are all in the staging folder. */
export function openRoom(
  { isolation, signal }: Order,
  { data }: Staging,
  parts: SandboxParts,
): Promise<LocalSandbox> {
  return createSandbox({ provider: local({ ...parts, data, isolation, watch: false }), signal })
}

/** What is not in the system's own folders, which every sandbox has. */
export function programs(npm?: NpmClient): { source: string }[] {
  return [process.execPath, ...(npm === undefined ? [] : [npm.folder])]
    .filter((path) => !/^\/(?:usr|opt)\//.test(path))
    .map((source) => ({ source }))
}
