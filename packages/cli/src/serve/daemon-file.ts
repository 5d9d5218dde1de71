import { readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { isWholeNumber, systemErrorCode } from '@vitrine/protocol/primitives'
import { writePrivateFile } from './private-file.ts'

/** The content of `daemon.json`, with which other commands find a running daemon. Only its owner can read the file. */
export interface DaemonRecord {
  readonly url: string
  readonly token?: string
  readonly pid: number
  readonly startedAt: string
  readonly version: string
}

export function writeDaemonFile(data: string, daemon: DaemonRecord): void {
  // Not synced to disk: the file is useless once this process has ended.
  writePrivateFile(pathOf(data), `${JSON.stringify(daemon)}\n`, { durable: false })
}

export function removeDaemonFile(data: string): void {
  rmSync(pathOf(data), { force: true })
}

/** The running daemon of a data directory; a file left by a dead process is ignored. */
export function readDaemonFile(data: string): DaemonRecord | undefined {
  try {
    const daemon = JSON.parse(readFileSync(pathOf(data), 'utf8'))
    return typeof daemon?.url === 'string' && isAlive(daemon.pid) ? daemon : undefined
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || error instanceof SyntaxError) return undefined
    throw new VitrineError(
      'file_denied',
      `${pathOf(data)} cannot be read. If the daemon belongs to another user, pass --url and --token.`,
      { cause: error },
    )
  }
}

function isAlive(pid: unknown): boolean {
  if (!isWholeNumber(pid, 1)) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemErrorCode(error) === 'EPERM'
  }
}

function pathOf(data: string): string {
  return join(data, 'daemon.json')
}

/** The data directory that a host would use, by the same rule as the host's own; nothing is created or opened. */
export function dataFolder(given: string | undefined): string {
  if (given !== undefined) return resolve(given)
  if (process.getuid?.() === 0) return '/var/lib/vitrine'
  return join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'vitrine')
}
