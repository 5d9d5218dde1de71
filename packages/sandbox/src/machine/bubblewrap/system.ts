import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { join } from 'node:path'
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

/** Files below a folder that not everyone on the host may read: its root's alone, not a sandbox's root's. */
export function privateFiles(folder: string): string[] {
  const found: string[] = []
  const walk = (path: string, hidden: boolean) => {
    for (const name of namesIn(path)) {
      const full = join(path, name)
      const stat = lstatSync(full, { throwIfNoEntry: false })
      if (stat === undefined || stat.isSymbolicLink()) continue
      if (stat.isDirectory()) walk(full, hidden || !everyoneMay(stat, 0o5))
      else if (hidden || !everyoneMay(stat, 0o4)) found.push(full)
    }
  }
  walk(folder, false)
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
