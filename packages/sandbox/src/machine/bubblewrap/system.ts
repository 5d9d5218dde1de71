import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediately } from 'node:timers/promises'
import type { SystemEntry } from './layout.ts'

/** What of the host's root a sandbox sees. Nothing below /home, /root, /srv, /mnt, /run, /sys or /var is. */
const systemFolders = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
] as const

export function systemEntries(): SystemEntry[] {
  return systemFolders.flatMap((path): SystemEntry[] => {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isSymbolicLink()) return [{ path, link: readlinkSync(path) }]
    return found?.isDirectory() ? [{ path }] : []
  })
}

/** Where the host's resolver configuration really is, when it is not in /etc. */
export function resolverFile(): string | undefined {
  try {
    const path = realpathSync('/etc/resolv.conf')
    return path.startsWith('/etc/') ? undefined : path
  } catch {
    return undefined
  }
}

export function hostFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** So many entries are looked at before others get their turn. */
const entriesPerTurn = 256

/** Files below a folder that not everyone on the host may read: its root's alone, not a sandbox's root's. */
export async function privateFiles(folder: string): Promise<string[]> {
  const found: string[] = []
  const folders = [{ path: folder, hidden: false }]
  let seen = 0
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const name of namesIn(at.path)) {
      seen += 1
      if (seen % entriesPerTurn === 0) await immediately()
      const path = join(at.path, name)
      const stat = lstatSync(path, { throwIfNoEntry: false })
      if (stat === undefined || stat.isSymbolicLink()) continue
      if (stat.isDirectory()) folders.push({ path, hidden: at.hidden || !everyoneMay(stat, 0o5) })
      else if (at.hidden || !everyoneMay(stat, 0o4)) found.push(path)
    }
  }
  return found
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function everyoneMay({ mode }: Stats, bits: number): boolean {
  return (mode & bits) === bits
}
