import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { MachineLimits } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import { type CgroupAccess, findCgroups } from '../../src/cgroups/access.ts'
import type { Cgroup } from '../../src/cgroups/cgroup.ts'
import { createCgroup } from '../../src/cgroups/create.ts'

/** The cgroup features of this machine. */
export const access = await findCgroups()

export const prefix = `test-${process.pid}-`

let made = 0

export async function group(limits: MachineLimits = {}, given: CgroupAccess = access): Promise<Cgroup> {
  made += 1
  const cgroup = await createCgroup(given, `${prefix}${made}`, limits)
  onTestFinished(() => cgroup.remove())
  return cgroup
}

const joinScript = 'n=$1; shift; while [ $n -gt 0 ]; do echo $$ > "$1"; shift; n=$((n-1)); done; exec "$@"'

/** Starts a program that is in the group from its first instruction. */
export function startIn({ paths }: Cgroup, ...command: string[]): ChildProcess {
  return spawn('sh', ['-c', joinScript, 'sh', String(paths.length), ...paths, ...command])
}

export function ended(
  child: ChildProcess,
): Promise<{ status: number | null; signal: string | null; stderr: string }> {
  let stderr = ''
  child.stderr?.on('data', (text) => {
    stderr += text
  })
  return new Promise((resolve) => {
    child.once('close', (status, signal) => resolve({ status, signal, stderr }))
  })
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** The NUL-terminated arguments of a process; empty if it has exited. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

export async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000
  while (!(await isDone())) {
    if (Date.now() > end) throw new Error('It did not happen within 30 seconds.')
    await pause(10)
  }
}
