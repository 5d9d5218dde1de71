import { readdirSync, readFileSync } from 'node:fs'

/** A tree of three, each of which says its mark in its arguments. One of them leaves the session. */
export function treeCommand(mark: string): string {
  return `sleep ${mark} & setsid sleep ${mark} & wait`
}

let marks = 0

/** A time to sleep that nothing else on this machine sleeps for. */
export function newMark(): string {
  marks += 1
  return `61.${process.pid}${String(marks).padStart(3, '0')}`
}

/** The processes with this mark in their arguments that have not ended. */
export function alive(mark: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && hasMark(pid, mark))
}

/** Ends what a measurement found alive: these very processes and no others. */
export function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It went by itself.
    }
  }
}

/** A process that has ended and waits for its parent has no arguments any more. */
function hasMark(pid: number, mark: string): boolean {
  try {
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
    return argv.includes(`sleep ${mark}`)
  } catch {
    return false
  }
}
