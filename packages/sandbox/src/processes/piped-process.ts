import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { type ProcessExit, VitrineError } from '@vitrine/protocol'
import { send } from '../machine/kill-tree.ts'
import { descendantsOf, readProcessTable } from '../machine/process-table.ts'
import type { ProcessEntry } from './entry.ts'

/** A program that its caller talks with. */
export interface PipedProcess {
  readonly id: string
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** Settles once the end was observed and committed. */
  readonly exit: Promise<ProcessExit>
  /** Settles once the end was observed. */
  readonly observed: Promise<ProcessExit>
  /** Politely, then for certain. */
  stop(graceMs: number): Promise<ProcessExit>
  kill(): Promise<ProcessExit>
  /** Ends what it has left behind, itself included. */
  endTree(): Promise<void>
  /** Ends what it has started since then, and not itself. Gives how many there were. */
  killStartedAfter(moment: ProcessMark): number
}

/** The kernel's own count, by which it says when a process began. */
export type ProcessMark = number

const ticksPerSecond = 100

export function processMark(): ProcessMark {
  return Math.floor(Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) * ticksPerSecond)
}

export function pipedProcess(entry: ProcessEntry): PipedProcess {
  const { id, current } = entry
  const { stdin, stdout } = current
  if (stdin === undefined || stdout === undefined)
    throw new VitrineError('internal', 'A process to talk with was started without its pipes.')
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
    killStartedAfter(moment) {
      if (current.ended) return 0
      const table = readProcessTable()
      const since = [...descendantsOf([current.top], table)].filter((pid) => {
        const row = table.get(pid)
        return row !== undefined && !row.ended && row.startedAt >= moment
      })
      for (const pid of since) send(pid, 'SIGKILL')
      return since.length
    },
  }
}
