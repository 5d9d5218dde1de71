import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, isGone } from './file-errors.ts'
import { subfolders } from './folders.ts'
import type { CgroupVersion } from './mounts.ts'
import type { Ability } from './probe.ts'

/** One folder of a hierarchy, and what can be done with it. */
export interface Group {
  readonly version: CgroupVersion
  readonly folder: string
  readonly abilities: ReadonlySet<Ability>
}

/** The processes in a group and in all below it. */
export async function groupPids({ folder }: { readonly folder: string }): Promise<number[]> {
  const own = parsePids(await readProcs(folder))
  const below = await Promise.all((await subfolders(folder)).map((inner) => groupPids({ folder: inner })))
  return [...own, ...below.flat()]
}

/** A process outside our PID namespace is shown as 0, which as a target of `kill` would be ourselves. */
export function parsePids(text: string): number[] {
  return text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0)
}

async function readProcs(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, 'cgroup.procs'), 'utf8')
  } catch (error) {
    // A group that a process inside made for its threads lists them elsewhere; its processes stand above it.
    if (isGone(error) || errorCode(error) === 'EOPNOTSUPP' || errorCode(error) === 'ENOTSUP') return ''
    throw error
  }
}
