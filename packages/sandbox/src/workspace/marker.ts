import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Folders } from '../engine/settings.ts'

/** How far a sandbox's workspace came: begun and then abandoned by a host that died, or done. */
export type Progress = 'none' | 'begun' | 'done'

/** Kept with the sandbox's own state: it goes when the sandbox is destroyed. */
export function readProgress({ state }: Folders): Progress {
  try {
    const word = readFileSync(join(state, 'manifest'), 'utf8')
    return word === 'done' ? 'done' : 'begun'
  } catch {
    return 'none'
  }
}

export function noteProgress({ state }: Folders, progress: Progress): void {
  const path = join(state, 'manifest')
  if (progress === 'none') {
    rmSync(path, { force: true })
    return
  }
  mkdirSync(state, { recursive: true, mode: 0o700 })
  writeFileSync(path, progress, { mode: 0o600 })
}
