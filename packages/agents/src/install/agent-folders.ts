import { mkdirSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * What of this machine agents need inside a sandbox, each at its own place and read-only: where they are installed, Node
 * alone (its folder may be anybody's HOME), and our own agent with what it imports.
 *
 * @example
 * local({ binds: agentPlaces({ cache, node: process.execPath }).map((source) => ({ source })) })
 */
export function agentFolders({ cache, node }: { readonly cache: string; readonly node: string }): string[] {
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  const own = fileURLToPath(new URL('../..', import.meta.url))
  const sdk = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk')
  const imported = [
    packageFolder('@agentclientprotocol/sdk', sdk),
    packageFolder('zod', createRequire(sdk).resolve('zod')),
  ]
  return beyondSystem([cache, node, own, ...imported].map((path) => realpathSync(path)))
}

/** Those that are not in the system's own folders, which every sandbox has. */
export function beyondSystem(paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => !/^\/(?:usr|opt)(?:\/|$)/.test(path))
}

function packageFolder(name: string, file: string): string {
  const mark = `/node_modules/${name}/`
  return file.slice(0, file.lastIndexOf(mark) + mark.length - 1)
}
