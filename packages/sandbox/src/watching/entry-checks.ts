import type { TimeSlice } from '@vitrine/archives'
import { isVitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import type { Disk, OpenDirectory } from './disk.ts'
import type { EntryStat } from './entry-stat.ts'
import type { Ignored } from './ignore.ts'
import { pathIn, type TreeNode } from './node.ts'

/** How often a directory is listed again because entries disappear between its listing and their check. */
const maxListings = 3

/** A directory entry that may have changed, with its current state; undefined if it does not exist. */
export interface EntryCheck {
  readonly directory: TreeNode
  readonly name: string
  readonly now: EntryStat | undefined
}

export interface CheckOptions {
  readonly disk: Disk
  readonly ignored: Ignored
  /** Reports a directory whose changes are not, or not completely, observed. */
  onUncovered(path: string, reason: string): void
}

/**
 * Reads the current state of names of a directory; `null` means all of them. Returns undefined if the directory is not at
 * its known path.
 */
export async function readChecks(
  options: CheckOptions,
  directory: TreeNode,
  names: ReadonlySet<string> | null,
  timeSlice: TimeSlice,
): Promise<EntryCheck[] | undefined> {
  let open: OpenDirectory | undefined
  try {
    open = options.disk.open(directory)
    if (open === undefined) return undefined
    for (let attempt = 1; ; attempt += 1) {
      const listed = new Set(names === null ? open.names() : [])
      const wanted = names ?? new Set([...listed, ...(directory.children?.keys() ?? [])])
      const checks: EntryCheck[] = []
      let isTorn = false
      for (const name of wanted) {
        if (timeSlice.expired) await timeSlice.yieldToEventLoop()
        if (isIgnored(options, directory, name)) continue
        const now = open.stat(name)
        const known = directory.children?.get(name)
        if (now !== undefined || known !== undefined) checks.push({ directory, name, now })
        isTorn ||= now === undefined && listed.has(name)
      }
      // An entry that was moved after the listing would be seen under neither name.
      if (!isTorn || attempt === maxListings) return checks
    }
  } catch (error) {
    if (isVitrineError(error)) throw error
    // The known state of an unreadable directory stays.
    cannotRead(options, directory, error)
    return []
  } finally {
    open?.close()
  }
}

export function isIgnored({ ignored }: CheckOptions, directory: TreeNode, name: string): boolean {
  return ignored(pathIn(directory, name), name)
}

/** Reports an unreadable directory. It is scanned again at its next notice. */
export function cannotRead(options: CheckOptions, directory: TreeNode, error: unknown): void {
  directory.entered = false
  const errno = systemErrorCode(error)
  // Removed meanwhile: a notice of the parent follows.
  if (errno === 'ENOENT' || errno === 'ENOTDIR') return
  const may = errno === 'EACCES' || errno === 'EPERM' ? 'may not' : 'cannot'
  options.onUncovered(directory.path, `It ${may} be read.`)
}
