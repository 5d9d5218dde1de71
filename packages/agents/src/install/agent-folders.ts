import { mkdirSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Paths of this machine that agents need inside a sandbox, to be bound read-only at the same path: the installations, the
 * Node executable alone (its folder may be in a user's HOME), and the demo agent with its imports.
 *
 * @example
 * local({ binds: agentFolders({ cache, node: process.execPath }).map((source) => ({ source })) })
 */
export function agentFolders({ cache, node }: { readonly cache: string; readonly node: string }): string[] {
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  const own = fileURLToPath(new URL('../..', import.meta.url))
  const sdk = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk')
  const imported = [
    packageFolder('@agentclientprotocol/sdk', sdk),
    packageFolder('zod', createRequire(sdk).resolve('zod')),
  ]
  return outsideSystem([cache, node, own, ...imported].map((path) => realpathSync(path)))
}

/** Removes paths in system folders, which every sandbox has anyway. */
export function outsideSystem(paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => !/^\/(?:usr|opt)(?:\/|$)/.test(path))
}

function packageFolder(name: string, file: string): string {
  const mark = `/node_modules/${name}/`
  return file.slice(0, file.lastIndexOf(mark) + mark.length - 1)
}
