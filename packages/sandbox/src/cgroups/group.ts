import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { isGone } from './file-errors.ts'
import { subfolders } from './folders.ts'
import type { CgroupVersion } from './mounts.ts'
import type { Ability } from './probe.ts'

/** One group of one hierarchy, and the features it supports. */
export interface Group {
  readonly version: CgroupVersion
  readonly folder: string
  readonly abilities: ReadonlySet<Ability>
}

/** The processes of a group and all groups below it. */
export async function groupPids({ folder }: { readonly folder: string }): Promise<number[]> {
  const own = parsePids(readProcs(folder))
  const below = await Promise.all((await subfolders(folder)).map((inner) => groupPids({ folder: inner })))
  return [...own, ...below.flat()]
}

/** Skips 0, which the kernel lists for a process outside of our PID namespace: `kill(0)` would signal our own group. */
export function parsePids(text: string): number[] {
  return text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0)
}

/** Read at once: the file is in the kernel's memory, and an asynchronous read would allocate 64 KiB. */
function readProcs(folder: string): string {
  try {
    return readFileSync(join(folder, 'cgroup.procs'), 'utf8')
  } catch (error) {
    // A threaded group that a process inside created has no readable `cgroup.procs`; the group above lists its processes.
    if (isGone(error) || systemErrorCode(error) === 'EOPNOTSUPP' || systemErrorCode(error) === 'ENOTSUP')
      return ''
    throw error
  }
}
