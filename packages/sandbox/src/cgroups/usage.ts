import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Group } from './group.ts'

/** What a group used so far; a part is missing where it is not accounted. */
export interface CgroupUsage {
  readonly memoryBytes?: number
  readonly pids?: number
  readonly cpuMs?: number
  /** How many processes were killed because the group's memory was full. */
  readonly oomKills?: number
}

type Measure = keyof CgroupUsage

/** Where each measure stands: a number alone in a file, or behind a word in it. */
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

/** `4096\n`, or the number after a word at the beginning of a line: `oom 0\noom_kill 2\n`. */
export function parseMeasure(text: string, word: string): number | undefined {
  const line = word === '' ? text : text.split('\n').find((one) => one.startsWith(`${word} `))
  const [, digits] = /(\d+)\s*$/.exec(line ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}
