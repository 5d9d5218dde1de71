import { readFileSync } from 'node:fs'

const sampleMs = 20

export interface Memory {
  readonly rssBytes: number
  /** The highest resident memory since the process started. */
  readonly peakBytes: number
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return { rssBytes: bytesOf(status, 'VmRSS'), peakBytes: bytesOf(status, 'VmHWM') }
}

/** Measures the peak growth of a process's resident memory while `work` runs. */
export async function growthDuring<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ readonly growthBytes: number; readonly result: T }> {
  const before = memoryOf(pid).rssBytes
  let most = before
  const sample = () => {
    most = Math.max(most, memoryOf(pid).rssBytes)
  }
  const sampling = setInterval(sample, sampleMs)
  try {
    const result = await work()
    sample()
    return { growthBytes: most - before, result }
  } finally {
    clearInterval(sampling)
  }
}

function bytesOf(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) * 1024
}
