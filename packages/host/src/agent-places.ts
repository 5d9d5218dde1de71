import { mkdirSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What of this machine agents need inside a sandbox, read-only: their cache, Node, and our own agent. */
export function agentPlaces(cache: string, node: string): string[] {
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  const demo = packageFolder('@vitrine/agents')
  const needed = ['@agentclientprotocol/sdk', 'zod'].map(packageFolder)
  const places = [cache, dirname(node), demo, ...needed].map((path) => realpathSync(path))
  // The system is there already.
  return [...new Set(places)].filter((path) => !path.startsWith('/usr/') && path !== '/usr')
}

/** Where a package lies that this one, or `@vitrine/agents`, depends on. */
function packageFolder(name: string): string {
  const file = fileURLToPath(import.meta.resolve(name, import.meta.resolve('@vitrine/agents')))
  const mark = `/${name}/`
  const at = file.lastIndexOf(mark)
  // From source a package is reached by a link, and its folder has another name.
  return at === -1 ? dirname(dirname(file)) : file.slice(0, at + mark.length - 1)
}
