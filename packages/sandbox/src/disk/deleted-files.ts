import { readdirSync, type Stats, statSync } from 'node:fs'
import { TimeSlice } from '@vitrine/archives'

const blockBytes = 512

/**
 * The disk space in bytes of deleted files that processes still have open, on the file systems of some folders. Files that
 * are only mapped into memory are not seen, nor those of processes that this user may not look into.
 */
export async function deletedBytes(
  pids: readonly number[],
  folders: readonly string[],
  signal?: AbortSignal,
): Promise<number> {
  const slice = new TimeSlice(signal)
  const devices = new Set(folders.flatMap((folder) => statOf(folder)?.dev ?? []))
  const counted = new Set<string>()
  let bytes = 0
  for (const pid of pids)
    for (const name of namesIn(`/proc/${pid}/fd`)) {
      if (slice.expired) await slice.yieldToEventLoop()
      const stats = statOf(`/proc/${pid}/fd/${name}`)
      if (stats === undefined || stats.nlink > 0 || !stats.isFile() || !devices.has(stats.dev)) continue
      const identity = `${stats.dev}:${stats.ino}`
      if (counted.has(identity)) continue
      counted.add(identity)
      bytes += stats.blocks * blockBytes
    }
  return bytes
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
