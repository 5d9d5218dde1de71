import { posix } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import type { AccessRoot, AccessRoots } from './access-roots.ts'
import { fileError, pathOutside } from './errors.ts'
import type { Handle } from './handle.ts'
import { type FileIdentity, mustSearch } from './identity.ts'

const maxLinks = 40

export interface WalkOptions {
  /** Whether a link in the last component is followed; default true. */
  readonly follow?: boolean
  /** The user whose permissions are checked; without one, the host's own apply. */
  readonly identity?: FileIdentity | undefined
  /** Opens the last component for reading if it is a regular file. */
  readonly readable?: boolean
}

/** The result of resolving a path. Its handles are open only during the callback of `walk`. */
export interface ResolvedPath {
  /** The path without links, as processes in the sandbox see it. */
  readonly path: string
  /** The directory that holds the entry, or the last existing directory of the path. An access root has none. */
  readonly parent: Handle | undefined
  readonly name: string
  readonly entry: Handle | undefined
  /** The names of the path that do not exist yet, outermost first. Empty if there is an entry. */
  readonly missing: readonly string[]
  /** Whether the path can only mean a directory, e.g. because it ends in a slash. */
  readonly asDirectory: boolean
  /** Whether the entry was opened for reading. */
  readonly isReadable?: boolean
}

/**
 * Resolves a path component by component, from one open directory to the next. Links are read and followed here, and
 * only within the workspace and the granted directories. The kernel never resolves more than one name, so a concurrent
 * swap cannot redirect the access.
 */
export function walk<T>(
  roots: AccessRoots,
  path: string,
  options: WalkOptions,
  use: (resolved: ResolvedPath) => T,
): T {
  const pathWalk = new PathWalk(roots, path, options)
  try {
    return use(pathWalk.follow())
  } catch (error) {
    throw fileError(error, path)
  } finally {
    pathWalk.close()
  }
}

class PathWalk {
  readonly #roots: AccessRoots
  readonly #path: string
  readonly #options: WalkOptions
  /** The names still to be resolved; the next one is last. */
  readonly #ahead: string[] = []
  /** The open directories between the access root and the current position. */
  #directories: { readonly name: string; readonly handle: Handle }[] = []
  #root: AccessRoot
  #links = 0
  #last: Handle | undefined

  constructor(roots: AccessRoots, path: string, options: WalkOptions) {
    this.#roots = roots
    this.#path = path
    this.#options = options
    const { root, names } = roots.locate(path)
    this.#root = root
    this.#restatRoot()
    this.#ahead.push(...names.reverse())
  }

  /** An access root stays open while the sandbox runs, so its owner may have changed. */
  #restatRoot(): void {
    if (this.#options.identity !== undefined) this.#root.directory.restat()
  }

  follow(): ResolvedPath {
    while (this.#ahead.length > 0) {
      const name = this.#ahead.pop()!
      if (name === '' || name === '.') continue
      if (name === '..') {
        this.#up()
        continue
      }
      const { handle: directory } = this.#here
      if (this.#options.identity !== undefined) mustSearch(directory, this.#options.identity, this.#path)
      const mounted = this.#roots.hasMounts ? this.#roots.mountedAt(this.#pathOf([name])) : undefined
      if (mounted !== undefined) {
        this.#enter(mounted)
        continue
      }
      const readable = this.#readable(directory, name)
      const entry = readable ?? directory.entry(name)
      if (entry === undefined) {
        const missing = [name, ...this.#namesAhead()]
        const asDirectory = ['', '.', '..'].includes(this.#ahead[0] ?? name)
        return { path: this.#pathOf(missing), parent: directory, name, entry, missing, asDirectory }
      }
      const { kind } = entry
      if (kind === 'directory') {
        this.#directories.push({ name, handle: entry })
        continue
      }
      this.#setLast(entry)
      const last = this.#namesAhead().length === 0
      // A trailing slash requires a directory.
      const asDirectory = this.#ahead.length > 0
      if (kind === 'symlink' && (!last || asDirectory || this.#options.follow !== false)) {
        this.#followLink(directory, name)
        continue
      }
      if (!last || asDirectory)
        throw new VitrineError(
          'file_not_directory',
          `${this.#roots.displayPath(this.#pathOf([name]))} is not a directory.`,
        )
      const isReadable = readable !== undefined
      return {
        path: this.#pathOf([name]),
        parent: directory,
        name,
        entry,
        missing: [],
        asDirectory,
        isReadable,
      }
    }
    const { name, handle } = this.#here
    const above = this.#directories.at(-2)?.handle ?? this.#root.directory
    const parent = this.#directories.length === 0 ? undefined : above
    return { path: this.#pathOf([]), parent, name, entry: handle, missing: [], asDirectory: true }
  }

  /** Opens the last component for reading right away, which saves a second open. */
  #readable(directory: Handle, name: string): Handle | undefined {
    if (this.#options.readable !== true || this.#ahead.length > 0) return undefined
    // Opening a FIFO would unblock its writer.
    return directory.lstat(name)?.isFile() === true ? directory.file(name) : undefined
  }

  get #here(): { readonly name: string; readonly handle: Handle } {
    return this.#directories.at(-1) ?? { name: '', handle: this.#root.directory }
  }

  #followLink(directory: Handle, name: string): void {
    this.#links += 1
    if (this.#links > maxLinks)
      throw new VitrineError('link_loop', `${this.#path} goes through more than ${maxLinks} symbolic links.`)
    let target: string
    try {
      target = directory.readLink(name)
    } catch (error) {
      if (systemErrorCode(error) !== 'EINVAL') throw error
      // No longer a link: resolve the name again.
      this.#ahead.push(name)
      return
    }
    if (target.startsWith('/')) this.#jump(target)
    else this.#ahead.push(...target.split('/').reverse())
  }

  #up(): void {
    const left = this.#directories.pop()
    if (left !== undefined) {
      left.handle.close()
      return
    }
    this.#jump(posix.dirname(this.#root.path))
  }

  #jump(target: string): void {
    let found: ReturnType<AccessRoots['locate']>
    // Outside every access root only the text of the path counts: the following names may lead back into a root.
    const ahead = this.#ahead.splice(0).reverse()
    try {
      found = this.#roots.locate([target, ...ahead].join('/'))
    } catch {
      throw pathOutside(this.#path)
    }
    this.#enter(found.root)
    this.#ahead.push(...found.names.reverse())
  }

  #enter(root: AccessRoot): void {
    this.#closeDirectories()
    this.#root = root
    this.#restatRoot()
  }

  /** The names ahead, without empty ones and ".". */
  #namesAhead(): string[] {
    return this.#ahead.filter((name) => name !== '' && name !== '.').toReversed()
  }

  #pathOf(more: readonly string[]): string {
    return [this.#root.path, ...this.#directories.map(({ name }) => name), ...more].join('/')
  }

  #setLast(entry: Handle): void {
    this.#last?.close()
    this.#last = entry
  }

  #closeDirectories(): void {
    for (const { handle } of this.#directories) handle.close()
    this.#directories = []
  }

  close(): void {
    this.#last?.close()
    this.#closeDirectories()
  }
}
