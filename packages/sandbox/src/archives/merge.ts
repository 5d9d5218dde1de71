import { linkSync } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'
import { fileError } from '../files/errors.ts'
import type { Handle } from '../files/handle.ts'
import { TimeSlice } from '../files/time-slice.ts'
import { DirectoryStack } from './directory-stack.ts'
import { type MovedEntry, move } from './move.ts'
import { orderedNames } from './ordered-names.ts'
import { quoted, refusal } from './refusal.ts'

export interface MergeOptions {
  /** Is asked for during the check; once things are moved, they are all moved. */
  readonly signal?: AbortSignal | undefined
  /** Takes what is replaced until all is done, so that what was done before a failure can be undone. */
  readonly trash?: Handle | undefined
  /** Of what has its place now; whole new directories are told once. */
  readonly onMerged?: (path: string, how: 'new' | 'replaced') => void
}

export interface Merged {
  readonly added: number
  readonly replaced: number
  /** Directories that were there and took in what was in theirs of the archive. */
  readonly kept: number
}

/**
 * Puts a staged tree over a directory. Everything is looked at before anything is moved: what would have to go through
 * a link or into something that is no directory, or would take the place of a directory, is refused.
 */
export async function merge(staged: Handle, target: Handle, options: MergeOptions = {}): Promise<Merged> {
  await compare(staged, target, new TimeSlice(options.signal), () => undefined)
  const counts = { new: 0, replaced: 0, kept: 0 }
  const placed = new Placed(target, options.trash)
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

/** Records what was moved into the target and what it replaced, so that the merge can be undone. */
class Placed {
  readonly #target: Handle
  readonly #trash: Handle | undefined
  readonly #done: { readonly path: string; readonly replaced: boolean }[] = []

  constructor(target: Handle, trash: Handle | undefined) {
    this.#target = target
    this.#trash = trash
  }

  place(from: MovedEntry, to: MovedEntry, path: string, replaced: boolean): void {
    if (replaced) this.#keep(to, path)
    move(from, to, path)
    if (!replaced) this.#done.push({ path, replaced })
  }

  /** A second name for what is there; where there can be none, it goes a moment before the other comes. */
  #keep(place: MovedEntry, path: string): void {
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
      `What was there could not be put back: ${lost.length} entries are those of the archive, the first is ${quoted(lost[0]!)}.`,
      { cause: fileError(reason, '.') },
    )
  }

  /** Goes there again, step by step: as many directories as there may be, they are not held open. */
  #at(path: string, act: (place: MovedEntry) => void): void {
    const names = path.split('/')
    const name = names.pop()!
    const trail = new DirectoryStack(this.#target)
    try {
      for (const step of names) {
        const next = trail.here?.entry(step)
        if (next?.kind !== 'directory') {
          next?.close()
          throw refusal(path, 'lost its directory to another process')
        }
        trail.push(step, next)
      }
      const { here } = trail
      if (here === undefined) throw refusal(path, 'lost its directory to another process')
      act({ parent: here, name })
    } finally {
      trail.close()
    }
  }
}

interface Meeting {
  readonly path: string
  readonly name: string
  readonly how: 'new' | 'replaced' | 'kept'
  readonly from: Handle
  readonly into: Handle
}

/** Walks both trees side by side, as far as both have directories. */
async function compare(
  staged: Handle,
  target: Handle,
  pace: TimeSlice,
  meet: (meeting: Meeting) => void,
): Promise<void> {
  const trails = { from: new DirectoryStack(staged), into: new DirectoryStack(target) }
  const levels = [{ prefix: '', names: orderedNames(staged) }]
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      if (pace.expired) await pace.yieldToEventLoop()
      const { done, value: name } = level.names.next()
      if (!done && name === undefined) continue
      if (name === undefined) {
        levels.pop()
        trails.from.pop()
        trails.into.pop()
        continue
      }
      const path = level.prefix + name
      const deeper = step(trails, name, path, meet)
      if (deeper !== undefined) levels.push({ prefix: `${path}/`, names: orderedNames(deeper) })
    }
  } finally {
    trails.from.close()
    trails.into.close()
  }
}

/** The staged directory to go on in, where the target has one too. */
function step(
  trails: { readonly from: DirectoryStack; readonly into: DirectoryStack },
  name: string,
  path: string,
  meet: (meeting: Meeting) => void,
): Handle | undefined {
  const from = trails.from.here
  const into = trails.into.here
  if (from === undefined || into === undefined) throw refusal(path, 'lost its directory to another process')
  const ours = from.entry(name)
  let theirs: Handle | undefined
  let kept = false
  try {
    theirs = into.entry(name)
    const how = verdict(path, ours, theirs)
    meet({ path, name, how, from, into })
    if (how !== 'kept' || ours === undefined || theirs === undefined) return undefined
    trails.from.push(name, ours)
    trails.into.push(name, theirs)
    kept = true
    return ours
  } catch (error) {
    throw fileError(error, path)
  } finally {
    if (!kept) ours?.close()
    if (!kept) theirs?.close()
  }
}

function verdict(path: string, ours: Handle | undefined, theirs: Handle | undefined): Meeting['how'] {
  if (theirs === undefined) return 'new'
  const isDirectory = theirs.kind === 'directory'
  if (ours?.kind !== 'directory') {
    if (isDirectory) throw refusal(path, 'is no directory and would take the place of one')
    return 'replaced'
  }
  if (isDirectory) return 'kept'
  const what = theirs.kind === 'symlink' ? 'a symbolic link' : 'something else'
  throw refusal(path, `is a directory, and ${what} is in its place`)
}
