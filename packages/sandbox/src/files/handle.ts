import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  type Stats,
} from 'node:fs'
import { type FileKind, VitrineError } from '@vitrine/protocol'
import { fromBytes, toBytes } from './exact-text.ts'

/** Opens the name and not the thing: no device wakes up, no FIFO waits. Node has no name for it. */
const pathOnly = 0o10000000
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/**
 * Something on disk that stays the same one, wherever its name goes meanwhile. What is below a directory is reached
 * from here, one name at a time and without following a link, so that nothing can be put in between.
 */
export class Handle {
  #stats: Stats
  #fd: number | undefined

  constructor(fd: number, stats: Stats) {
    this.#fd = fd
    this.#stats = stats
  }

  /** As it was when it was opened, or looked at again. */
  get stats(): Stats {
    return this.#stats
  }

  restat(): void {
    this.#stats = fstatSync(this.fd)
  }

  /** Its number, which is another's once this is closed: what comes late is refused. */
  get fd(): number {
    if (this.#fd === undefined)
      throw new VitrineError('sandbox_not_running', 'The sandbox ended before this was done.')
    return this.#fd
  }

  /** A directory of this machine. Its path is trusted. */
  static directory(path: string): Handle {
    return opened(openSync(path, pathOnly | O_DIRECTORY))
  }

  get kind(): FileKind {
    return kindOf(this.stats)
  }

  /** A path to this very thing, good for as long as the handle is open. */
  get self(): string {
    return `/proc/self/fd/${this.fd}`
  }

  /** A path to one name below. */
  at(name: string): string | Buffer {
    return toBytes(`/proc/self/fd/${this.fd}/${name}`)
  }

  /** What has that name, or nothing. */
  entry(name: string): Handle | undefined {
    let fd: number
    try {
      fd = openSync(this.at(name), pathOnly | O_NOFOLLOW)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
    return opened(fd)
  }

  /** A regular file that can be read, or nothing where it is something else by now. */
  file(name: string): Handle | undefined {
    let fd: number
    try {
      fd = openSync(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch {
      return undefined
    }
    const handle = opened(fd)
    if (handle.kind === 'file') return handle
    handle.close()
    return undefined
  }

  lstat(name: string): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false })
  }

  readLink(name: string): string {
    return fromBytes(readlinkSync(this.at(name), 'buffer'))
  }

  /** The names below, in no order. */
  names(): string[] {
    const names = readdirSync(this.self)
    // Names that are not UTF-8 are rare, and reading bytes is slow.
    if (!names.some((name) => name.includes('\ufffd'))) return names
    return readdirSync(this.self, 'buffer').map(fromBytes)
  }

  /** The thing itself, for reading or writing. */
  open(flags: number): number {
    return openSync(this.self, flags)
  }

  /** Another handle to the same directory. */
  duplicate(): Handle {
    return Handle.directory(this.self)
  }

  /** Its number, which is the caller's to close from now on. */
  release(): number {
    const { fd } = this
    this.#fd = undefined
    return fd
  }

  close(): void {
    if (this.#fd === undefined) return
    closeSync(this.#fd)
    this.#fd = undefined
  }
}

function opened(fd: number): Handle {
  try {
    return new Handle(fd, fstatSync(fd))
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

export function kindOf(stats: Stats): FileKind {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

export function isMissing(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT'
}
