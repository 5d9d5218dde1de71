import { Handle, TimeSlice } from '@vitrine/archives'
import { systemErrorCode } from '@vitrine/protocol/primitives'

const blockBytes = 512
/** Each level holds a descriptor. A deeper tree counts as endless, so that nothing can be hidden in it. */
const maxDepth = 256

/**
 * The disk space of some folders in bytes, as `du` counts it: blocks in use, a file with several names once. It stays on
 * the file system of each folder and follows no link. A folder inside another one counts once.
 *
 * @example
 * const bytes = await diskUsage(['/srv/project', '/home/me'])
 */
export async function diskUsage(folders: readonly string[], signal?: AbortSignal): Promise<number> {
  const slice = new TimeSlice(signal)
  const counted = new Set<string>()
  let bytes = 0
  const visit = async (directory: Handle, depth: number): Promise<void> => {
    if (depth > maxDepth) {
      bytes = Number.POSITIVE_INFINITY
      return
    }
    const { dev } = directory.stats
    const names = unlessHidden(directory, () => directory.names())
    if (names === 'hidden') bytes = Number.POSITIVE_INFINITY
    for (const name of names === 'hidden' ? [] : (names ?? [])) {
      if (slice.expired) await slice.yieldToEventLoop()
      const stats = unlessHidden(directory, () => directory.lstat(name))
      if (stats === 'hidden') {
        bytes = Number.POSITIVE_INFINITY
        return
      }
      if (stats === undefined || stats.dev !== dev) continue
      if (stats.nlink > 1 && !stats.isDirectory()) {
        const identity = `${dev}:${stats.ino}`
        if (counted.has(identity)) continue
        counted.add(identity)
      }
      bytes += stats.blocks * blockBytes
      if (!stats.isDirectory()) continue
      const below = openBelow(directory, name)
      try {
        if (below?.kind === 'directory') await visit(below, depth + 1)
      } finally {
        below?.close()
      }
    }
  }
  for (const folder of outermost(folders)) {
    const directory = openFolder(folder)
    try {
      if (directory !== undefined) await visit(directory, 0)
    } finally {
      directory?.close()
    }
  }
  return bytes
}

/** The folders without those that are inside another one. */
function outermost(folders: readonly string[]): string[] {
  return [...new Set(folders)].filter(
    (folder) => !folders.some((other) => other !== folder && folder.startsWith(`${other}/`)),
  )
}

function openFolder(path: string): Handle | undefined {
  try {
    return Handle.directory(path)
  } catch {
    return undefined
  }
}

/** Undefined if the entry was removed meanwhile, or if it cannot be opened: then only its own blocks are counted. */
function openBelow(directory: Handle, name: string): Handle | undefined {
  try {
    return directory.entry(name)
  } catch {
    return undefined
  }
}

/**
 * Reads something of a folder; undefined if the folder was removed meanwhile. A folder that its own user has closed
 * against reading is `hidden`: its content cannot be counted. In a closed folder of another user a sandbox cannot write.
 */
function unlessHidden<T>({ stats }: Handle, read: () => T): T | 'hidden' | undefined {
  try {
    return read()
  } catch (error) {
    const isClosed = systemErrorCode(error) === 'EACCES' && Number(stats.uid) === process.geteuid?.()
    return isClosed ? 'hidden' : undefined
  }
}
