import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediately } from 'node:timers/promises'
import type { InstallProgress } from '@vitrine/protocol'

export type OnProgress = (progress: InstallProgress) => void

const everyMs = 500

/** Tells how far a step is, at once and then twice a second, until it is left. */
export function reporting(
  folder: string,
  progress: Pick<InstallProgress, 'agent' | 'step' | 'message'>,
  onProgress: OnProgress,
): Disposable {
  let bytes: number | undefined
  let counting = false
  const tell = () => {
    onProgress({ ...progress, ...(bytes !== undefined && { bytes }) })
    if (counting) return
    counting = true
    void bytesIn(folder).then((counted) => {
      bytes = counted
      counting = false
    })
  }
  tell()
  const timer = setInterval(tell, everyMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const burstMs = 5

/** What a folder takes on disk. It may change meanwhile. */
export async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  let began = performance.now()
  const folders = [folder]
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const name of namesIn(at)) {
      const path = join(at, name)
      const stat = lstatSync(path, { throwIfNoEntry: false })
      // A file that has two names is counted for each half.
      if (stat?.isFile()) bytes += (stat.blocks * 512) / stat.nlink
      else if (stat?.isDirectory()) folders.push(path)
      if (performance.now() - began < burstMs) continue
      await immediately()
      began = performance.now()
    }
  }
  return Math.round(bytes)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
