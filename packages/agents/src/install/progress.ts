import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediately } from 'node:timers/promises'
import type { InstallProgress } from '@vitrine/protocol'

export type OnProgress = (progress: InstallProgress) => void

const intervalMs = 500

/** Reports the size of a folder at once and then twice a second, until it is disposed. */
export function reporting(
  folder: string,
  progress: Pick<InstallProgress, 'agent' | 'step' | 'message'>,
  onProgress: OnProgress,
): Disposable {
  let bytes: number | undefined
  let counting = false
  const report = () => {
    onProgress({ ...progress, ...(bytes !== undefined && { bytes }) })
    if (counting) return
    counting = true
    void bytesIn(folder).then((counted) => {
      bytes = counted
      counting = false
    })
  }
  report()
  const timer = setInterval(report, intervalMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const sliceMs = 5

/** Disk usage of a folder, which may change meanwhile. Yields to the event loop regularly. */
export async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  let sliceStart = performance.now()
  const folders = [folder]
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const name of namesIn(at)) {
      const path = join(at, name)
      const stat = lstatSync(path, { throwIfNoEntry: false })
      // A file with n hard links counts one n-th per link.
      if (stat?.isFile()) bytes += (stat.blocks * 512) / stat.nlink
      else if (stat?.isDirectory()) folders.push(path)
      if (performance.now() - sliceStart < sliceMs) continue
      await immediately()
      sliceStart = performance.now()
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
