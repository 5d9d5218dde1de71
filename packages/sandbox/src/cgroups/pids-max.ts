import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hierarchies } from './layout.ts'
import { parseMounts } from './mounts.ts'
import { parsePositions } from './positions.ts'

interface CgroupFiles {
  /** The content of `/proc/self/cgroup`. */
  readonly own: string
  /** The content of `/proc/self/mountinfo`. */
  readonly mountinfo: string
  read(path: string): string | undefined
}

/** The least `pids.max` of the control groups around this process; undefined if none of them has a limit. */
export function leastPidsMax({ own, mountinfo, read }: CgroupFiles = filesOfHost()): number | undefined {
  const folders = hierarchies(parseMounts(mountinfo), parsePositions(own)).flatMap(({ folders }) => folders)
  const limits = folders.map((folder) => Number(read(join(folder, 'pids.max')) ?? 'max'))
  const set = limits.filter((limit) => Number.isInteger(limit) && limit > 0)
  return set.length === 0 ? undefined : Math.min(...set)
}

function filesOfHost(): CgroupFiles {
  return { own: read('/proc/self/cgroup') ?? '', mountinfo: read('/proc/self/mountinfo') ?? '', read }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
