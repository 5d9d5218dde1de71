import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Folders } from '../engine/settings.ts'
import { readRow } from '../machine/process-table.ts'

/** How far a workspace came; `abandoned` by a host that died. */
export type Progress = 'none' | 'begun' | 'abandoned' | 'done'

/** Kept with the sandbox's own state: it goes when the sandbox is destroyed. */
export function readProgress(folders: Folders): Progress {
  let words: string[]
  try {
    words = readFileSync(pathIn(folders), 'utf8').split(' ')
  } catch {
    return 'none'
  }
  const [word, pid, startedAt] = words
  if (word === 'done') return 'done'
  // A process of that number that started at another time is another process.
  return Number(startedAt) > 0 && readRow(Number(pid))?.startedAt !== Number(startedAt)
    ? 'abandoned'
    : 'begun'
}

export function noteBegun(folders: Folders): void {
  write(folders, `begun ${process.pid} ${readRow(process.pid)?.startedAt ?? 0}`)
}

export function noteDone(folders: Folders): void {
  write(folders, 'done')
}

export function forgetProgress(folders: Folders): void {
  rmSync(pathIn(folders), { force: true })
}

function write(folders: Folders, words: string): void {
  mkdirSync(folders.state, { recursive: true, mode: 0o700 })
  writeFileSync(pathIn(folders), words, { mode: 0o600 })
}

function pathIn({ state }: Folders): string {
  return join(state, 'manifest')
}
