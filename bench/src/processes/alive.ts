import { readdirSync, readFileSync } from 'node:fs'

/** A command that starts three processes with the mark in their arguments. One of them leaves the session. */
export function treeCommand(mark: string): string {
  return `sleep ${mark} & setsid sleep ${mark} & wait`
}

let marks = 0

/** A unique sleep duration that marks the processes of one run. */
export function newMark(): string {
  marks += 1
  return `61.${process.pid}${String(marks).padStart(3, '0')}`
}

/** The running processes with this mark in their arguments. */
export function alive(mark: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && hasMark(pid, mark))
}

/** Kills exactly the given processes. */
export function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has already exited.
    }
  }
}

/** Whether a process has the mark in its arguments. A zombie has no arguments any more. */
function hasMark(pid: number, mark: string): boolean {
  try {
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
    return argv.includes(`sleep ${mark}`)
  } catch {
    return false
  }
}
