import { chmodSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { randomHex, VitrineError } from '@vitrine/protocol'
import { errnoOf, type Handle, isMissing } from './handle.ts'
import { TimeSlice } from './time-slice.ts'

/** How deep directories are held open; what is deeper is brought up first. */
const maxOpen = 64
const maxAttempts = 100

/** Removes a name and everything below it, by handles, without following a link. */
export async function removeTree(parent: Handle, name: string, pace = new TimeSlice()): Promise<void> {
  const below: string[] = [name]
  for (let next = below.pop(); next !== undefined; next = below.pop())
    await removeOne({ top: parent, raised: below, pace }, parent, next, 0)
}

interface Removal {
  /** Where directories that lie too deep are brought to, under names that are in `raised`. */
  readonly top: Handle
  readonly raised: string[]
  readonly pace: TimeSlice
}

async function removeOne(removal: Removal, parent: Handle, name: string, depth: number): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (removal.pace.expired) await removal.pace.yieldToEventLoop()
    const entry = parent.entry(name)
    if (entry === undefined) return
    try {
      if (entry.kind !== 'directory') {
        if (isDone(parent, () => unlinkSync(parent.at(name)))) return
      } else if (depth >= maxOpen) {
        const raised = `deep-${randomHex(8)}`
        if (!isDone(parent, () => renameSync(parent.at(name), removal.top.at(raised)))) continue
        removal.raised.push(raised)
        return
      } else {
        for (const child of childrenOf(entry)) await removeOne(removal, entry, child, depth + 1)
        if (isDone(parent, () => rmdirSync(parent.at(name)))) return
      }
    } finally {
      entry.close()
    }
  }
  throw new VitrineError('file_busy', 'Something goes on writing below what is to be removed.')
}

/** Gone, or filled or swapped by somebody else meanwhile: then it is looked at again. */
const again: readonly (string | undefined)[] = ['ENOENT', 'ENOTEMPTY', 'EISDIR', 'ENOTDIR']

function isDone(directory: Handle, change: () => void): boolean {
  try {
    changing(directory, change)
    return true
  } catch (error) {
    if (again.includes(errnoOf(error))) return false
    throw error
  }
}

function childrenOf(directory: Handle): string[] {
  try {
    return changing(directory, () => directory.names())
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** A directory of ours that forbids changes is made to allow them. */
function changing<T>(directory: Handle, change: () => T): T {
  try {
    return change()
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    chmodSync(directory.self, 0o700)
    return change()
  }
}
