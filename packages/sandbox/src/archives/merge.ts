import { fileError } from '../files/errors.ts'
import type { Handle } from '../files/handle.ts'
import { Pace } from '../files/pace.ts'
import { move } from './move.ts'
import { orderedNames } from './ordered-names.ts'
import { refusal } from './refusal.ts'
import { Trail } from './trail.ts'

export interface MergeOptions {
  /** Is asked for during the check; once things are moved, they are all moved. */
  readonly signal?: AbortSignal | undefined
  /** Of what has its place now; whole new directories are told once. */
  readonly onPlaced?: (path: string, how: 'new' | 'replaced') => void
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
  await compare(staged, target, new Pace(options.signal), () => undefined)
  const counts = { new: 0, replaced: 0, kept: 0 }
  await compare(staged, target, new Pace(), ({ path, how, from, into, name }) => {
    counts[how] += 1
    if (how === 'kept') return
    move({ parent: from, name }, { parent: into, name }, path)
    options.onPlaced?.(path, how)
  })
  return { added: counts.new, replaced: counts.replaced, kept: counts.kept }
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
  pace: Pace,
  meet: (meeting: Meeting) => void,
): Promise<void> {
  const trails = { from: new Trail(staged), into: new Trail(target) }
  const levels = [{ prefix: '', names: orderedNames(staged) }]
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      if (pace.due) await pace.rest()
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
  trails: { readonly from: Trail; readonly into: Trail },
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
