import { readdirSync, readFileSync } from 'node:fs'

/** Processes of this machine whose command line or environment has this mark, without zombies. */
export function marked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => isRunning(pid) && (has(pid, 'cmdline', mark) || has(pid, 'environ', mark)))
}

/** Whether a process is there, and no zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

function has(pid: number, file: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(mark)
  } catch {
    return false
  }
}
