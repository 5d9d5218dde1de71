import type { Change } from './change.ts'
import type { Ignored } from './ignore.ts'

/** The files that the host itself writes into a workspace, and the directories that it makes for them. */
export class PrivatePaths {
  readonly #files: ReadonlySet<string>
  readonly #made = new Set<string>()

  /** Paths relative to the workspace. */
  constructor(files: readonly string[]) {
    this.#files = new Set(files)
  }

  /** Ignores these files too. */
  ignoring(ignored: Ignored): Ignored {
    if (this.#files.size === 0) return ignored
    const withFiles = (path: string, name: string) => this.#files.has(path) || ignored(path, name)
    return Object.assign(withFiles, { byPath: true })
  }

  addMade(directory: string): void {
    this.#made.add(directory)
  }

  /** Whether a change is the creation of such a directory. Each is created once: a program may make it again. */
  takes({ type, path, kind }: Change): boolean {
    if (this.#made.size === 0 || !this.#made.has(path)) return false
    this.#made.delete(path)
    return type === 'created' && kind === 'directory'
  }
}
