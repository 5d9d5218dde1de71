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
import { decodePathText, systemErrorCode } from '@vitrine/protocol/primitives'
import { toBytes } from './exact-text.ts'

/** O_PATH, for which Node has no constant: opens a reference without opening the file, so no device or FIFO reacts. */
const pathOnly = 0o10000000
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/**
 * An open file descriptor. It keeps referring to the same file when that is renamed. Entries of a directory are opened
 * relative to it, one name at a time and without following links, so that a concurrent swap cannot redirect the access.
 */
export class Handle {
  #stats: Stats
  #fd: number | undefined

  constructor(fd: number, stats: Stats) {
    this.#fd = fd
    this.#stats = stats
  }

  /** As of the opening or the last `restat()`. */
  get stats(): Stats {
    return this.#stats
  }

  restat(): void {
    this.#stats = fstatSync(this.fd)
  }

  /** The descriptor's number. Throws after `close()`, since the number may have been reused. */
  get fd(): number {
    if (this.#fd === undefined)
      throw new VitrineError('sandbox_not_running', 'The sandbox stopped before the operation finished.')
    return this.#fd
  }

  /** Opens a directory of the host by a trusted path. */
  static directory(path: string): Handle {
    return opened(openSync(path, pathOnly | O_DIRECTORY))
  }

  get kind(): FileKind {
    return kindOf(this.stats)
  }

  /** A path to this file itself, valid while the handle is open. */
  get self(): string {
    return `/proc/self/fd/${this.fd}`
  }

  /** A path to an entry of this directory. */
  at(name: string): string | Buffer {
    return toBytes(`/proc/self/fd/${this.fd}/${name}`)
  }

  /** Opens an entry of this directory; undefined if there is none. */
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

  /** Opens a regular file for reading; undefined if it cannot be opened or is not a regular file. */
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
    return decodePathText(readlinkSync(this.at(name), 'buffer'))
  }

  /** The names of the entries, in no particular order. */
  names(): string[] {
    const names = readdirSync(this.self)
    // Names that are not UTF-8 are rare, and reading bytes is slow.
    if (!names.some((name) => name.includes('\ufffd'))) return names
    return readdirSync(this.self, 'buffer').map(decodePathText)
  }

  /** Opens the file itself for reading or writing. */
  open(flags: number): number {
    return openSync(this.self, flags)
  }

  /** Opens a second handle to the same directory. */
  duplicate(): Handle {
    return Handle.directory(this.self)
  }

  /** Returns the descriptor's number and leaves closing it to the caller. */
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

export function isMissing(error: unknown): boolean {
  return systemErrorCode(error) === 'ENOENT'
}
