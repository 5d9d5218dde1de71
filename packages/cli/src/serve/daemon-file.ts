import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { writePrivately } from './private-file.ts'

/** How others on this machine find a daemon, in a file that only its owner reads. */
export interface DaemonNote {
  readonly url: string
  readonly token?: string
  readonly pid: number
  readonly startedAt: string
  readonly version: string
}

export function writeNote(data: string, note: DaemonNote): void {
  // It says nothing once this process is gone.
  writePrivately(pathOf(data), `${JSON.stringify(note)}\n`, { lasts: false })
}

export function removeNote(data: string): void {
  rmSync(pathOf(data), { force: true })
}

/** The daemon of a data directory; nothing where none runs, whatever a dead one left behind. */
export function readNote(data: string): DaemonNote | undefined {
  try {
    const note = JSON.parse(readFileSync(pathOf(data), 'utf8'))
    return typeof note?.url === 'string' && isAlive(note.pid) ? note : undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || error instanceof SyntaxError) return undefined
    throw new VitrineError(
      'file_denied',
      `${pathOf(data)} cannot be read. Is it another user's daemon? Then pass --url and --token.`,
      { cause: error },
    )
  }
}

function isAlive(pid: unknown): boolean {
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function pathOf(data: string): string {
  return join(data, 'daemon.json')
}
