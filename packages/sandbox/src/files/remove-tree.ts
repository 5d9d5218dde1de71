import { chmodSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { randomHex } from '@vitrine/protocol'
import { errnoOf, type Handle, isMissing } from './handle.ts'
import { Pace } from './pace.ts'

/** How deep directories are held open; what is deeper is brought up first. */
const maxOpen = 64
const maxAttempts = 100

/** Removes a name and everything below it, by handles, without following a link. */
export async function removeTree(parent: Handle, name: string, pace = new Pace()): Promise<void> {
  const below: string[] = [name]
  for (let next = below.pop(); next !== undefined; next = below.pop())
    await removeOne({ top: parent, raised: below, pace }, parent, next, 0)
}

interface Removal {
  /** Where directories that lie too deep are brought to, under names that are in `raised`. */
  readonly top: Handle
  readonly raised: string[]
  readonly pace: Pace
}

async function removeOne(removal: Removal, parent: Handle, name: string, depth: number): Promise<void> {
  const { pace } = removal
  if (pace.due) await pace.rest()
  const entry = parent.entry(name)
  if (entry === undefined) return
  try {
    if (entry.kind !== 'directory') {
      changing(parent, () => unlinkSync(parent.at(name)))
      return
    }
    if (depth >= maxOpen) {
      const raised = `deep-${randomHex(8)}`
      changing(parent, () => renameSync(parent.at(name), removal.top.at(raised)))
      removal.raised.push(raised)
      return
    }
    for (let attempt = 1; ; attempt += 1) {
      for (const child of changing(entry, () => entry.names()))
        await removeOne(removal, entry, child, depth + 1)
      try {
        changing(parent, () => rmdirSync(parent.at(name)))
        return
      } catch (error) {
        if (isMissing(error)) return
        // Something still writes there.
        if (errnoOf(error) !== 'ENOTEMPTY' || attempt === maxAttempts) throw error
      }
    }
  } finally {
    entry.close()
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
