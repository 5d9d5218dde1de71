import { createSandbox, type LocalOptions, type LocalSandbox, local } from '@vitrine/sandbox'
import { beyondSystem } from './agent-places.ts'
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

/** What npm and agents run on, where the system does not have it. */
export function programs(npm?: NpmClient): { source: string }[] {
  const needed = [process.execPath, ...(npm === undefined ? [] : [npm.folder])]
  return beyondSystem(needed).map((source) => ({ source }))
}
