import { posix } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import type { AccessRoot, AccessRoots } from './access-roots.ts'
import { fileError, outside } from './errors.ts'
import { errnoOf, type Handle } from './handle.ts'
import { type Identity, mustSearch } from './identity.ts'

const maxLinks = 40

export interface WalkOptions {
  /** Whether a link at the very end is followed; default true. */
  readonly follow?: boolean
  /** Whose rights count; the host's own without one. */
  readonly as?: Identity | undefined
  /** A regular file at the end is open for reading. */
  readonly readable?: boolean
}

/** Where a path has led. Its handles are open while it is used. */
export interface ResolvedPath {
  /** Without links, as processes see it. */
  readonly path: string
  /** The directory that it is in, or the last one on the way to it. A place itself has none. */
  readonly parent: Handle | undefined
  readonly name: string
  /** What is there. */
  readonly entry: Handle | undefined
  /** Names that do not exist yet: the last is the one that was asked for. Empty where there is an entry. */
  readonly missing: readonly string[]
  /** Whether the path ends like that of a directory. */
  readonly asDirectory: boolean
  /** Whether the entry was opened for reading. */
  readonly isReadable?: boolean
}

/**
 * Follows a path by hand, from one open directory to the next: a link is read and followed here, and only within the
 * workspace and what is granted. The kernel never sees more than one name, so nothing that is swapped meanwhile can
 * lead it elsewhere.
 */
export function walk<T>(
  places: AccessRoots,
  path: string,
  options: WalkOptions,
  use: (spot: ResolvedPath) => T,
): T {
  const way = new Way(places, path, options)
  try {
    return use(way.follow())
  } catch (error) {
    throw fileError(error, path)
  } finally {
    way.close()
  }
}

class Way {
  readonly #places: AccessRoots
  readonly #path: string
  readonly #options: WalkOptions
  /** Names still to be followed, the next one last. */
  readonly #ahead: string[] = []
  /** The open directories from the place down to here. The first is the place's own. */
  #trail: { readonly name: string; readonly handle: Handle }[] = []
  #place: AccessRoot
  #links = 0
  #last: Handle | undefined

  constructor(places: AccessRoots, path: string, options: WalkOptions) {
    this.#places = places
    this.#path = path
    this.#options = options
    const { place, names } = places.locate(path)
    this.#place = place
    this.#lookAgain()
    this.#ahead.push(...names.reverse())
  }

  /** A place is open for as long as the sandbox runs, and may have changed hands since. */
  #lookAgain(): void {
    if (this.#options.as !== undefined) this.#place.directory.restat()
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
      if (this.#options.as !== undefined) mustSearch(directory, this.#options.as, this.#path)
      const mounted = this.#places.hasMounts ? this.#places.mountedAt(this.#pathOf([name])) : undefined
      if (mounted !== undefined) {
        this.#enter(mounted)
        continue
      }
      const readable = this.#readable(directory, name)
      const entry = readable ?? directory.entry(name)
      if (entry === undefined) {
        const missing = [name, ...this.#rest()]
        const asDirectory = ['', '.', '..'].includes(this.#ahead[0] ?? name)
        return { path: this.#pathOf(missing), parent: directory, name, entry, missing, asDirectory }
      }
      const { kind } = entry
      if (kind === 'directory') {
        this.#trail.push({ name, handle: entry })
        continue
      }
      this.#setLast(entry)
      const last = this.#rest().length === 0
      // A slash at the end asks for a directory.
      const asDirectory = this.#ahead.length > 0
      if (kind === 'symlink' && (!last || asDirectory || this.#options.follow !== false)) {
        this.#followLink(directory, name)
        continue
      }
      if (!last || asDirectory)
        throw new VitrineError(
          'file_not_directory',
          `${this.#places.displayPath(this.#pathOf([name]))} is not a directory.`,
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
    const above = this.#trail.at(-2)?.handle ?? this.#place.directory
    const parent = this.#trail.length === 0 ? undefined : above
    return { path: this.#pathOf([]), parent, name, entry: handle, missing: [], asDirectory: true }
  }

  /** At once, without a second way to it, where that is what is wanted. */
  #readable(directory: Handle, name: string): Handle | undefined {
    if (this.#options.readable !== true || this.#ahead.length > 0) return undefined
    // A FIFO that is opened would wake who writes to it.
    return directory.lstat(name)?.isFile() === true ? directory.file(name) : undefined
  }

  get #here(): { readonly name: string; readonly handle: Handle } {
    return this.#trail.at(-1) ?? { name: '', handle: this.#place.directory }
  }

  #followLink(directory: Handle, name: string): void {
    this.#links += 1
    if (this.#links > maxLinks)
      throw new VitrineError('link_loop', `${this.#path} leads through more than ${maxLinks} links.`)
    let target: string
    try {
      target = directory.readLink(name)
    } catch (error) {
      if (errnoOf(error) !== 'EINVAL') throw error
      // It is no link any more: it is looked at again.
      this.#ahead.push(name)
      return
    }
    if (target.startsWith('/')) this.#jump(target)
    else this.#ahead.push(...target.split('/').reverse())
  }

  #up(): void {
    const left = this.#trail.pop()
    if (left !== undefined) {
      left.handle.close()
      return
    }
    this.#jump(posix.dirname(this.#place.path))
  }

  #jump(target: string): void {
    let found: ReturnType<AccessRoots['locate']>
    // Outside of every place there are only names: the next ones may lead into one.
    const ahead = this.#ahead.splice(0).reverse()
    try {
      found = this.#places.locate([target, ...ahead].join('/'))
    } catch {
      throw outside(this.#path)
    }
    this.#enter(found.place)
    this.#ahead.push(...found.names.reverse())
  }

  #enter(place: AccessRoot): void {
    this.#leaveTrail()
    this.#place = place
    this.#lookAgain()
  }

  /** The names ahead that mean something. */
  #rest(): string[] {
    return this.#ahead.filter((name) => name !== '' && name !== '.').toReversed()
  }

  #pathOf(more: readonly string[]): string {
    return [this.#place.path, ...this.#trail.map(({ name }) => name), ...more].join('/')
  }

  #setLast(entry: Handle): void {
    this.#last?.close()
    this.#last = entry
  }

  #leaveTrail(): void {
    for (const { handle } of this.#trail) handle.close()
    this.#trail = []
  }

  close(): void {
    this.#last?.close()
    this.#leaveTrail()
  }
}
