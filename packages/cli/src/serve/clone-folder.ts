import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The name of this repository in its `package.json`. */
const repository = 'vitrine-repo'

/** The data folder of the clone that this program runs from, which git ignores; undefined if it runs from no clone. */
export function cloneDataFolder(): string | undefined {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (isClone(folder)) return isReachable(folder) ? join(folder, '.vitrine') : undefined
    if (folder === dirname(folder)) return undefined
  }
}

function isClone(folder: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === repository
  } catch {
    return false
  }
}

/** A host that runs as root starts commands as another user, who must be able to reach the workspaces. */
function isReachable(folder: string): boolean {
  if (process.getuid?.() !== 0) return true
  for (let path = folder; path !== dirname(path); path = dirname(path))
    if ((statSync(path).mode & 0o001) === 0) return false
  return true
}
