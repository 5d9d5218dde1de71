import { fstatSync } from 'node:fs'
import { fileError, withPathInErrors } from './directories/errors.ts'
import { type Handle, isMissing } from './directories/handle.ts'
import { DirectoryStack } from './directory-stack.ts'
import { orderedNames } from './ordered-names.ts'

/** An entry visited by a walk. Its handle is valid until the walk continues. */
export interface TreeEntry {
  /** Relative to the top directory. */
  readonly path: string
  readonly name: string
  readonly handle: Handle
  readonly parent: Handle
}

interface WalkTreeOptions {
  /** Yields only this entry of the directory, and everything below it. */
  readonly only?: string | undefined
  readonly skip: (path: string) => boolean
  /** Called for an entry that was removed after it was listed, and for a directory that was removed during the walk. */
  readonly onVanished?: ((path: string) => void) | undefined
}

/**
 * Yields everything below a directory, parents before their entries and names in byte order. Links are not followed, and
 * only the names of the directories on the current path are in memory. It yields `undefined` where the caller can yield
 * to the event loop.
 */
export function* walkTree(
  top: Handle,
  { only, skip, onVanished }: WalkTreeOptions,
): Generator<TreeEntry | undefined> {
  const stack = new DirectoryStack(top)
  const levels = [{ prefix: '', names: only === undefined ? orderedNames(top) : [only].values() }]
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const { prefix, names } = level
      const { done, value: name } = nextOf(names, prefix)
      if (done) {
        if (onVanished !== undefined && isRemoved(stack.here)) onVanished(prefix.slice(0, -1))
        levels.pop()
        stack.pop()
        continue
      }
      const parent = name === undefined ? undefined : stack.here
      if (name === undefined || parent === undefined) {
        // The directory was moved away during the walk.
        if (name !== undefined) {
          names.return?.(undefined)
          onVanished?.(prefix.slice(0, -1))
        }
        yield undefined
        continue
      }
      const path = prefix + name
      if (skip(path)) continue
      const handle = withPathInErrors(path, () => parent.entry(name))
      if (handle === undefined) {
        onVanished?.(path)
        continue
      }
      let pushed = false
      try {
        yield { path, name, handle, parent }
        if (handle.kind === 'directory') {
          stack.push(name, handle)
          pushed = true
          levels.push({ prefix: `${path}/`, names: orderedNames(handle) })
        }
      } finally {
        if (!pushed) handle.close()
      }
    }
  } finally {
    for (const { names } of levels) names.return?.(undefined)
    stack.close()
  }
}

/** A removed directory has no links; it may still be open. */
function isRemoved(directory: Handle | undefined): boolean {
  return directory === undefined || fstatSync(directory.fd).nlink === 0
}

function nextOf(names: Iterator<string | undefined>, prefix: string): IteratorResult<string | undefined> {
  try {
    return names.next()
  } catch (error) {
    // The directory was removed meanwhile.
    if (isMissing(error)) return { done: true, value: undefined }
    throw fileError(error, prefix || '.')
  }
}
