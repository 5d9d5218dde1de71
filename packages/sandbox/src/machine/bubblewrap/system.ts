import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediately } from 'node:timers/promises'
import type { SystemEntry } from './layout.ts'

/** The host folders that a sandbox sees; /home, /root, /srv, /mnt, /run, /sys and /var are not among them. */
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

/** The real path of the host's `resolv.conf` if it lies outside of /etc. */
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

/** The number of entries to inspect before yielding to the event loop. */
const entriesPerTurn = 256

/** The files below a folder that are not world-readable on the host; a sandbox's root must not read them either. */
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
