import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from './file-errors.ts'
import { enable } from './folders.ts'
import type { Limit } from './limits.ts'

const limits: readonly Limit[] = ['memory', 'cpu', 'pids']

/** Enables the limit controllers for the groups below a v2 group, and reports the reasons for those that fail. */
export async function enableControllers(
  folder: string,
): Promise<{ readonly enabled: Limit[]; readonly reasons: Map<Limit, string> }> {
  const enabled: Limit[] = []
  const reasons = new Map<Limit, string>()
  for (const name of limits) {
    const reason = await enableOrExplain(folder, name)
    if (reason === undefined) enabled.push(name)
    else reasons.set(name, reason)
  }
  return { enabled, reasons }
}

async function enableOrExplain(folder: string, name: Limit): Promise<string | undefined> {
  if (words(folder, 'cgroup.subtree_control').includes(name)) return undefined
  if (!words(folder, 'cgroup.controllers').includes(name))
    return `${folder}/cgroup.controllers has no ${name}`
  if (holdsProcesses(folder))
    return `${folder} contains processes, and cgroup v2 enables no controllers below such a group`
  try {
    await enable(folder, [name])
    return undefined
  } catch (error) {
    return errorText(error)
  }
}

/**
 * Checked before enabling: `cpu` and `pids` can be enabled in a group with processes too, but then the groups below
 * accept only threads. The root group, which has no `cgroup.type`, may have processes and controllers.
 */
function holdsProcesses(folder: string): boolean {
  return existsSync(join(folder, 'cgroup.type')) && words(folder, 'cgroup.procs').length > 0
}

/** Read at once: the file is in the kernel's memory, and an asynchronous read would allocate 64 KiB. */
function words(folder: string, file: string): string[] {
  try {
    return readFileSync(join(folder, file), 'utf8')
      .split(/\s+/)
      .filter((word) => word !== '')
  } catch {
    return []
  }
}
