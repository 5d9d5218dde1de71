import { chmodSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { randomHex, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { TimeSlice } from '../time-slice.ts'
import { type Handle, isMissing } from './handle.ts'

/** Limits the directories open at once: a deeper one is moved to the top and removed from there. */
const maxOpen = 64
const maxAttempts = 100

/** Removes a name and everything below it, by handles, without following a link. */
export async function removeTree(parent: Handle, name: string, timeSlice = new TimeSlice()): Promise<void> {
  const below: string[] = [name]
  for (let next = below.pop(); next !== undefined; next = below.pop())
    await removeOne({ top: parent, raised: below, timeSlice }, parent, next, 0)
}

interface Removal {
  /** The directory that too deeply nested directories are moved to, under the names in `raised`. */
  readonly top: Handle
  readonly raised: string[]
  readonly timeSlice: TimeSlice
}

async function removeOne(removal: Removal, parent: Handle, name: string, depth: number): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (removal.timeSlice.expired) await removal.timeSlice.yieldToEventLoop()
    const entry = parent.entry(name)
    if (entry === undefined) return
    try {
      if (entry.kind !== 'directory') {
        if (tryChange(parent, () => unlinkSync(parent.at(name)))) return
      } else if (depth >= maxOpen) {
        const raised = `deep-${randomHex(8)}`
        if (!tryChange(parent, () => renameSync(parent.at(name), removal.top.at(raised)))) continue
        removal.raised.push(raised)
        return
      } else {
        for (const child of childrenOf(entry)) await removeOne(removal, entry, child, depth + 1)
        if (tryChange(parent, () => rmdirSync(parent.at(name)))) return
      }
    } finally {
      entry.close()
    }
  }
  throw new VitrineError('file_busy', 'Another process keeps writing below the path that is being removed.')
}

/** Another process removed, filled or replaced the entry meanwhile: check it again. */
const retryErrnos: readonly (string | undefined)[] = ['ENOENT', 'ENOTEMPTY', 'EISDIR', 'ENOTDIR']

function tryChange(directory: Handle, change: () => void): boolean {
  try {
    withWriteAccess(directory, change)
    return true
  } catch (error) {
    if (retryErrnos.includes(systemErrorCode(error))) return false
    throw error
  }
}

function childrenOf(directory: Handle): string[] {
  try {
    return withWriteAccess(directory, () => directory.names())
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Retries a change after making the directory writable, if its mode forbids the change. */
function withWriteAccess<T>(directory: Handle, change: () => T): T {
  try {
    return change()
  } catch (error) {
    if (systemErrorCode(error) !== 'EACCES') throw error
    chmodSync(directory.self, 0o700)
    return change()
  }
}
