import { readFileSync } from 'node:fs'

const sampleMs = 20

export interface Memory {
  readonly rssBytes: number
  /** The most it ever was. */
  readonly peakBytes: number
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return { rssBytes: bytesOf(status, 'VmRSS'), peakBytes: bytesOf(status, 'VmHWM') }
}

/** How much more a process holds at most while something goes on than right before it. */
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
