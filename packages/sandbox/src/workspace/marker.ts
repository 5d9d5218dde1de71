import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Folders } from '../engine/settings.ts'
import { readRow } from '../machine/process-table.ts'

/** The progress of a workspace's preparation; `abandoned` if the host died during it. */
export type Progress = 'none' | 'begun' | 'abandoned' | 'done'

/** Reads the progress from the sandbox's state folder, which is removed with the sandbox. */
export function readProgress(folders: Folders): Progress {
  let words: string[]
  try {
    words = readFileSync(pathIn(folders), 'utf8').split(' ')
  } catch {
    return 'none'
  }
  const [word, pid, startedAt] = words
  if (word === 'done') return 'done'
  // A process with that pid but another start time is a different process.
  return Number(startedAt) > 0 && readRow(Number(pid))?.startedAt !== Number(startedAt)
    ? 'abandoned'
    : 'begun'
}

export function markBegun(folders: Folders): void {
  write(folders, ownMark())
}

/** Lets another host prepare the workspace again while this process lives, unless it does so already. */
export function markAbandoned(folders: Folders): void {
  try {
    if (readFileSync(pathIn(folders), 'utf8') === ownMark()) write(folders, 'begun 0 1')
  } catch {
    // The preparation had not begun.
  }
}

export function markDone(folders: Folders): void {
  write(folders, 'done')
}

export function clearProgress(folders: Folders): void {
  rmSync(pathIn(folders), { force: true })
}

function ownMark(): string {
  return `begun ${process.pid} ${readRow(process.pid)?.startedAt ?? 0}`
}

function write(folders: Folders, words: string): void {
  mkdirSync(folders.state, { recursive: true, mode: 0o700 })
  writeFileSync(pathIn(folders), words, { mode: 0o600 })
}

function pathIn({ state }: Folders): string {
  return join(state, 'manifest')
}
