import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Group } from './group.ts'

/** The resource usage of a group; a value that the kernel does not account is missing. */
export interface CgroupUsage {
  readonly memoryBytes?: number
  readonly pids?: number
  readonly cpuMs?: number
  /** The number of processes that the kernel killed because the group was out of memory. */
  readonly oomKills?: number
}

type Measure = keyof CgroupUsage

/** The file of each measure, and the word before the number if the file holds more than one. */
const sources: Record<
  Group['version'],
  readonly (readonly [Measure, file: string, word: string, unit: number])[]
> = {
  1: [
    ['memoryBytes', 'memory.usage_in_bytes', '', 1],
    ['oomKills', 'memory.oom_control', 'oom_kill', 1],
    ['pids', 'pids.current', '', 1],
    ['cpuMs', 'cpuacct.usage', '', 1e-6],
  ],
  2: [
    ['memoryBytes', 'memory.current', '', 1],
    ['oomKills', 'memory.events', 'oom_kill', 1],
    ['pids', 'pids.current', '', 1],
    ['cpuMs', 'cpu.stat', 'usage_usec', 1e-3],
  ],
}

export async function readUsage(groups: readonly Group[]): Promise<CgroupUsage> {
  const usage: Partial<Record<Measure, number>> = {}
  for (const { version, folder } of groups) {
    for (const [measure, file, word, unit] of sources[version]) {
      const text = await readFile(join(folder, file), 'utf8').catch(() => '')
      const value = parseMeasure(text, word)
      if (value !== undefined) usage[measure] ??= value * unit
    }
  }
  return usage
}

/** Parses `4096\n`, or the number after a word at the beginning of a line: `oom 0\noom_kill 2\n`. */
export function parseMeasure(text: string, word: string): number | undefined {
  const line = word === '' ? text : text.split('\n').find((one) => one.startsWith(`${word} `))
  const [, digits] = /(\d+)\s*$/.exec(line ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}
