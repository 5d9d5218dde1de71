import { linkSync } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'
import { fileError } from './directories/errors.ts'
import type { Handle } from './directories/handle.ts'
import { DirectoryStack } from './directory-stack.ts'
import { type EntryName, move } from './move.ts'
import { orderedNames } from './ordered-names.ts'
import { quoted, refusal } from './refusal.ts'
import { TimeSlice } from './time-slice.ts'

export interface MergeOptions {
  /** Cancels the check that comes first; once entries are being moved, the merge is not cancelled. */
  readonly signal?: AbortSignal | undefined
  /** Stores replaced entries until the end, so that a failed merge can be undone. */
  readonly trash?: Handle | undefined
  /** Called for each placed entry; a new directory is reported once, without its content. */
  readonly onMerged?: (path: string, how: 'new' | 'replaced') => void
}

export interface MergeCounts {
  readonly added: number
  readonly replaced: number
  /** Existing directories that entries of the archive were merged into. */
  readonly kept: number
}

/**
 * Merges a staged tree into a directory. Everything is checked before anything is moved. An entry is refused if its path
 * goes through a link or another non-directory, or if it would replace a directory.
 */
export async function merge(
  staged: Handle,
  target: Handle,
  options: MergeOptions = {},
): Promise<MergeCounts> {
  await compare(staged, target, new TimeSlice(options.signal), () => undefined)
  const counts = { new: 0, replaced: 0, kept: 0 }
  const placed = new PlacedEntries(target, options.trash)
  try {
    await compare(staged, target, new TimeSlice(), ({ path, how, from, into, name }) => {
      counts[how] += 1
      if (how === 'kept') return
      placed.place({ parent: from, name }, { parent: into, name }, path, how === 'replaced')
      options.onMerged?.(path, how)
    })
  } catch (error) {
    placed.undo(error)
    throw error
  }
  return { added: counts.new, replaced: counts.replaced, kept: counts.kept }
}

/** Records the placed and the replaced entries, for undo. */
class PlacedEntries {
  readonly #target: Handle
  readonly #trash: Handle | undefined
  readonly #done: { readonly path: string; readonly replaced: boolean }[] = []

  constructor(target: Handle, trash: Handle | undefined) {
    this.#target = target
    this.#trash = trash
  }

  place(from: EntryName, to: EntryName, path: string, replaced: boolean): void {
    if (replaced) this.#backUp(to, path)
    move(from, to, path)
    if (!replaced) this.#done.push({ path, replaced })
  }

  /** Hard-links the existing entry into the trash. If that is impossible, moves it there just before its replacement. */
  #backUp(place: EntryName, path: string): void {
    if (this.#trash === undefined) return
    const kept = { parent: this.#trash, name: `${this.#done.length}` }
    try {
      linkSync(place.parent.at(place.name), kept.parent.at(kept.name))
    } catch {
      move(place, kept, path)
    }
    this.#done.push({ path, replaced: true })
  }

  undo(reason: unknown): void {
    const trash = this.#trash
    if (trash === undefined) return
    const lost: string[] = []
    for (const [index, { path, replaced }] of [...this.#done.entries()].toReversed()) {
      const kept = { parent: trash, name: `${index}` }
      try {
        this.#at(path, (place) => (replaced ? move(kept, place, path) : move(place, kept, path)))
      } catch {
        lost.push(path)
      }
    }
    if (lost.length === 0) return
    throw new VitrineError(
      'file_failed',
      `${lost.length} replaced entries could not be restored and have the content of the archive; the first is ${quoted(lost[0]!)}.`,
      { cause: fileError(reason, '.') },
    )
  }

  /** Opens a path's parent again from the root, since there may be too many directories to keep them open. */
  #at(path: string, act: (place: EntryName) => void): void {
    const names = path.split('/')
    const name = names.pop()!
    const stack = new DirectoryStack(this.#target)
    try {
      for (const part of names) {
        const next = stack.here?.entry(part)
        if (next?.kind !== 'directory') {
          next?.close()
          throw refusal(path, 'lost its directory to another process')
        }
        stack.push(part, next)
      }
      const { here } = stack
      if (here === undefined) throw refusal(path, 'lost its directory to another process')
      act({ parent: here, name })
    } finally {
      stack.close()
    }
  }
}

interface MergeStep {
  readonly path: string
  readonly name: string
  readonly how: 'new' | 'replaced' | 'kept'
  readonly from: Handle
  readonly into: Handle
}

/** Walks both trees in parallel and descends where both have a directory. */
async function compare(
  staged: Handle,
  target: Handle,
  timeSlice: TimeSlice,
  apply: (step: MergeStep) => void,
): Promise<void> {
  const stacks = { from: new DirectoryStack(staged), into: new DirectoryStack(target) }
  const levels = [{ prefix: '', names: orderedNames(staged) }]
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      if (timeSlice.expired) await timeSlice.yieldToEventLoop()
      const { done, value: name } = level.names.next()
      if (!done && name === undefined) continue
      if (name === undefined) {
        levels.pop()
        stacks.from.pop()
        stacks.into.pop()
        continue
      }
      const path = level.prefix + name
      const deeper = mergeEntry(stacks, name, path, apply)
      if (deeper !== undefined) levels.push({ prefix: `${path}/`, names: orderedNames(deeper) })
    }
  } finally {
    stacks.from.close()
    stacks.into.close()
  }
}

/** Applies one entry. Returns the staged directory to descend into if the target has that directory too. */
function mergeEntry(
  stacks: { readonly from: DirectoryStack; readonly into: DirectoryStack },
  name: string,
  path: string,
  apply: (step: MergeStep) => void,
): Handle | undefined {
  const from = stacks.from.here
  const into = stacks.into.here
  if (from === undefined || into === undefined) throw refusal(path, 'lost its directory to another process')
  const stagedEntry = from.entry(name)
  let targetEntry: Handle | undefined
  let kept = false
  try {
    targetEntry = into.entry(name)
    const how = actionFor(path, stagedEntry, targetEntry)
    apply({ path, name, how, from, into })
    if (how !== 'kept' || stagedEntry === undefined || targetEntry === undefined) return undefined
    stacks.from.push(name, stagedEntry)
    stacks.into.push(name, targetEntry)
    kept = true
    return stagedEntry
  } catch (error) {
    throw fileError(error, path)
  } finally {
    if (!kept) stagedEntry?.close()
    if (!kept) targetEntry?.close()
  }
}

function actionFor(
  path: string,
  stagedEntry: Handle | undefined,
  targetEntry: Handle | undefined,
): MergeStep['how'] {
  if (targetEntry === undefined) return 'new'
  const isDirectory = targetEntry.kind === 'directory'
  if (stagedEntry?.kind !== 'directory') {
    if (isDirectory) throw refusal(path, 'is not a directory and would replace one')
    return 'replaced'
  }
  if (isDirectory) return 'kept'
  const what = targetEntry.kind === 'symlink' ? 'a symbolic link' : 'something else'
  throw refusal(path, `is a directory, but ${what} already exists at its path`)
}
