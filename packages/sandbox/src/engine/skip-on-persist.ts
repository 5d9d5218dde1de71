import { posix } from 'node:path'
import { checkPath } from '@vitrine/archives'
import { VitrineError } from '@vitrine/protocol'
import type { SandboxSettings } from './settings.ts'

/** The paths of the workspace that are not persisted; mounts never are. */
export class SkipOnPersist {
  readonly paths = new Set<string>()
  /** The targets of `binds` in the workspace, relative to its root. */
  readonly #mounts: readonly string[]

  constructor({ folders: { root }, binds }: SandboxSettings) {
    this.#mounts = binds.flatMap(({ target }) =>
      target.startsWith(`${root}/`) ? [target.slice(root.length + 1)] : [],
    )
    for (const mount of this.#mounts) this.paths.add(mount)
  }

  add(path: string): string {
    checkPath('skipOnPersist', path)
    const concrete = posix.normalize(path).replace(/\/$/, '')
    const invalid = (reason: string) => new VitrineError('argument_invalid', `skipOnPersist: ${reason}`)
    if (posix.isAbsolute(path) || concrete === '..' || concrete.startsWith('../'))
      throw invalid(`expected a path from the root of the workspace, got ${JSON.stringify(path)}.`)
    if (concrete === '.') throw invalid('the root of the workspace cannot be skipped.')
    if (/[*?]/.test(concrete))
      throw invalid(`expected a concrete path, got the pattern ${JSON.stringify(path)}.`)
    const mount = this.#mounts.find((other) => isWithin(other, concrete) || isWithin(concrete, other))
    if (mount !== undefined)
      throw invalid(`${JSON.stringify(path)} overlaps with the mount at ${mount}, which is never persisted.`)
    this.paths.add(concrete)
    return concrete
  }

  /** Whether a mount is at or below an entry of the root; such an entry stays. */
  holdsMount(name: string): boolean {
    return this.#mounts.some((mount) => isWithin(mount, name))
  }
}

function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(`${ancestor}/`)
}
