import { about, fileError } from '../files/errors.ts'
import { type Handle, isMissing } from '../files/handle.ts'
import { DirectoryStack } from './directory-stack.ts'
import { orderedNames } from './ordered-names.ts'

/** Something that a walk comes by. Its handle is good until the walk goes on. */
export interface TreeEntry {
  /** From where the walk began. */
  readonly path: string
  readonly name: string
  readonly handle: Handle
  readonly parent: Handle
}

/**
 * Everything below a directory, parents before what is in them and names in the order of their bytes. No link is
 * followed, and only the names of the directories on the way are held. `undefined` is a moment to rest in.
 */
export function* walkTree(
  top: Handle,
  { only, skip }: { readonly only?: string | undefined; readonly skip: (path: string) => boolean },
): Generator<TreeEntry | undefined> {
  const trail = new DirectoryStack(top)
  const levels = [{ prefix: '', names: only === undefined ? orderedNames(top) : [only].values() }]
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const { prefix, names } = level
      const { done, value: name } = nextOf(names, prefix)
      if (done) {
        levels.pop()
        trail.pop()
        continue
      }
      const parent = name === undefined ? undefined : trail.here
      if (name === undefined || parent === undefined) {
        // It was moved away while it was walked.
        if (name !== undefined) names.return?.(undefined)
        yield undefined
        continue
      }
      const path = prefix + name
      if (skip(path)) continue
      const handle = about(path, () => parent.entry(name))
      if (handle === undefined) continue
      let kept = false
      try {
        yield { path, name, handle, parent }
        if (handle.kind === 'directory') {
          trail.push(name, handle)
          kept = true
          levels.push({ prefix: `${path}/`, names: orderedNames(handle) })
        }
      } finally {
        if (!kept) handle.close()
      }
    }
  } finally {
    for (const { names } of levels) names.return?.(undefined)
    trail.close()
  }
}

function nextOf(names: Iterator<string | undefined>, prefix: string): IteratorResult<string | undefined> {
  try {
    return names.next()
  } catch (error) {
    // It was removed meanwhile.
    if (isMissing(error)) return { done: true, value: undefined }
    throw fileError(error, prefix || '.')
  }
}
