import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { isGone } from './file-errors.ts'
import { freezeGroup, thawGroup } from './freeze.ts'
import { type Group, groupPids } from './group.ts'
import { waitUntil } from './wait-until.ts'

const dyingMs = 10_000
const freezingMs = 500

/**
 * Kills every process of a group, also one that left its session or its parent, and resolves when none is left.
 * A frozen group is thawed.
 */
export async function killGroup(group: Group): Promise<void> {
  const killAll = group.abilities.has('kill') ? killAtOnce : killOneByOne
  await waitUntil(
    async () => {
      if ((await groupPids(group)).length === 0) return true
      await killAll(group)
      return false
    },
    { timeoutMs: dyingMs, what: `Killing every process of ${group.folder}` },
  )
  await thawIfCan(group)
}

/** The kernel kills the whole tree, including forks in progress and frozen processes. */
async function killAtOnce({ folder }: Group): Promise<void> {
  await writeFile(join(folder, 'cgroup.kill'), '1').catch(ignoreGone)
}

/** Freezes first: a frozen process can neither fork nor free its pid. Under v1 it dies only once thawed. */
async function killOneByOne(group: Group): Promise<void> {
  if (group.abilities.has('freeze')) await freezeGroup(group, freezingMs).catch(() => {})
  for (const pid of await groupPids(group)) killProcess(pid)
  await thawIfCan(group)
}

async function thawIfCan(group: Group): Promise<void> {
  if (group.abilities.has('freeze')) await thawGroup(group).catch(ignoreGone)
}

/** A process that may not be killed is tried again in the next round, until the timeout. */
function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH' && systemErrorCode(error) !== 'EPERM') throw error
  }
}

function ignoreGone(error: unknown): void {
  if (!isGone(error)) throw error
}
