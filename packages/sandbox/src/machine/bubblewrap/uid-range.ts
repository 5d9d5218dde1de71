import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { readRow } from '../process-table.ts'

const folder = '/run/vitrine-uids'
const firstUid = 1 << 30
const size = 65_536
const ranges = 16_384

export interface UidRange {
  readonly first: number
  release(): void
}

/** Claims a range of the host's user ids that no other running sandbox uses. */
export function takeUidRange(start = Math.floor(Math.random() * ranges)): UidRange {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (let tried = 0; tried < ranges; tried++) {
    const slot = (start + tried) % ranges
    const path = join(folder, String(slot))
    if (claim(path)) return { first: firstUid + slot * size, release: () => rmSync(path, { force: true }) }
  }
  throw new VitrineError('sandbox_start_failed', 'All ranges of private user ids are in use.')
}

function claim(path: string): boolean {
  const owner = readOwner(path)
  if (owner !== undefined && !isAlive(owner)) rmSync(path, { force: true })
  try {
    const file = openSync(path, 'wx', 0o600)
    writeSync(file, `${process.pid} ${readRow(process.pid)?.startedAt ?? 0}`)
    closeSync(file)
    return true
  } catch {
    return false
  }
}

function readOwner(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Whether the owner still runs. The start time is compared too, since the kernel reuses pids. */
function isAlive(owner: string): boolean {
  const [pid, startedAt] = owner.split(' ').map(Number)
  // An empty file is being written now.
  if (pid === undefined || Number.isNaN(pid) || pid === 0) return true
  return readRow(pid)?.startedAt === startedAt
}
