import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { type ProcessExit, VitrineError } from '@vitrine/protocol'
import { send } from '../machine/kill-tree.ts'
import { descendantsOf, readProcessTable } from '../machine/process-table.ts'
import type { ProcessEntry } from './entry.ts'

/** A program whose stdin and stdout belong to the caller. */
export interface PipedProcess {
  readonly id: string
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** Settles once the exit is observed and committed. */
  readonly exit: Promise<ProcessExit>
  /** Settles once the exit is observed. */
  readonly observed: Promise<ProcessExit>
  /** Sends SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<ProcessExit>
  kill(): Promise<ProcessExit>
  /** Kills its whole tree, also the processes left after its exit. */
  endTree(): Promise<void>
  /** Kills its descendants that started at or after the mark, and returns their number. The program itself goes on. */
  killStartedAfter(mark: ProcessMark): number
}

/** A moment in the kernel's clock ticks since boot, comparable with the start time of a process. */
export type ProcessMark = number

const ticksPerSecond = 100

export function processMark(): ProcessMark {
  return Math.floor(Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) * ticksPerSecond)
}

export function pipedProcess(entry: ProcessEntry): PipedProcess {
  const { id, current } = entry
  const { stdin, stdout } = current
  if (stdin === undefined || stdout === undefined)
    throw new VitrineError('internal', 'A piped process was started without its pipes.')
  return {
    id,
    pid: current.pid,
    stdin,
    stdout,
    exit: entry.exit,
    observed: current.observed,
    stop: (graceMs) => entry.stop(graceMs),
    kill: () => entry.kill('cancelled'),
    endTree: () => current.endTree(),
    killStartedAfter(mark) {
      if (current.ended) return 0
      const table = readProcessTable()
      const since = [...descendantsOf([current.top], table)].filter((pid) => {
        const row = table.get(pid)
        return row !== undefined && !row.ended && row.startedAt >= mark
      })
      for (const pid of since) send(pid, 'SIGKILL')
      return since.length
    },
  }
}
