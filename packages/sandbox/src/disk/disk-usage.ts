import { Handle, TimeSlice } from '@vitrine/archives'

const blockBytes = 512
/** Each level holds a descriptor. A deeper tree counts as endless, so that nothing can be hidden in it. */
const maxDepth = 256

/**
 * The disk space of some folders in bytes, as `du` counts it: blocks in use, a file with several names once. It stays on
 * the file system of each folder and follows no link.
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
    for (const name of namesIn(directory)) {
      if (slice.expired) await slice.yieldToEventLoop()
      const stats = directory.lstat(name)
      if (stats === undefined || stats.dev !== dev) continue
      if (stats.nlink > 1 && !stats.isDirectory()) {
        const identity = `${dev}:${stats.ino}`
        if (counted.has(identity)) continue
        counted.add(identity)
      }
      bytes += stats.blocks * blockBytes
      if (!stats.isDirectory()) continue
      const below = directory.entry(name)
      try {
        if (below?.kind === 'directory') await visit(below, depth + 1)
      } finally {
        below?.close()
      }
    }
  }
  for (const folder of folders) {
    const directory = openFolder(folder)
    try {
      if (directory !== undefined) await visit(directory, 0)
    } finally {
      directory?.close()
    }
  }
  return bytes
}

function openFolder(path: string): Handle | undefined {
  try {
    return Handle.directory(path)
  } catch {
    return undefined
  }
}

/** A folder that was removed meanwhile, or that an ordinary host may not list, has no names. */
function namesIn(directory: Handle): string[] {
  try {
    return directory.names()
  } catch {
    return []
  }
}
