import {
  closeSync,
  constants,
  ftruncateSync,
  lchownSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  write,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { VitrineError } from '@vitrine/protocol'
import {
  type Attributes,
  applyDirectoryAttributes,
  applyFileAttributes,
  type Owner,
  timeFor,
} from './attributes.ts'
import { withPathInErrors } from './directories/errors.ts'
import { toBytes } from './directories/exact-text.ts'
import type { Handle } from './directories/handle.ts'
import { DirectoryStack } from './directory-stack.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
/** Chunks up to this size are written synchronously. */
const smallBytes = 128 * 1024
const writePart = promisify(write)

interface Folder {
  readonly name: string
  readonly below: Map<string, Folder>
  mode: number
  mtime: number | undefined
}

interface FileInProgress {
  readonly path: string
  readonly fd: number
  readonly size: number
  readonly attributes: Attributes
  /** The position after the last written byte. */
  end: number
}

interface StagedLink {
  readonly path: string
  readonly target: string
  readonly mtime: number
}

/**
 * Creates a tree in an empty directory that no other process uses. Links and directory modes, which could interfere with
 * creating the rest, are applied last.
 */
export class TreeBuilder {
  readonly #owner: Owner | undefined
  readonly #stack: DirectoryStack
  readonly #folders: Folder[]
  #parent = ''
  #file: FileInProgress | undefined
  readonly #links: StagedLink[] = []
  files = 0
  directories = 0
  links = 0
  bytes = 0

  constructor(into: Handle, owner: Owner | undefined) {
    this.#owner = owner
    this.#stack = new DirectoryStack(into)
    this.#folders = [newFolder('')]
  }

  directory(path: string, { mode, mtime }: Attributes): void {
    this.#enter(path)
    const folder = this.#folders.at(-1)!
    folder.mode = mode
    folder.mtime = mtime
  }

  /** Must be followed by `write` and `endFile`. */
  beginFile(path: string, size: number, attributes: Attributes): void {
    const { parent, name } = this.#enterParent(path)
    const flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY
    const fd = withPathInErrors(path, () => openSync(parent.at(name), flags, 0o600))
    this.#file = { path, fd, size, attributes, end: 0 }
    this.files += 1
  }

  /** Writes a part of the current file. Returns a promise for a large part. */
  write(bytes: Uint8Array, at: number): Promise<void> | undefined {
    const { fd, path } = this.#file!
    this.bytes += bytes.length
    this.#file!.end = at + bytes.length
    if (bytes.length > smallBytes) return writeAsync(fd, bytes, at, path)
    withPathInErrors(path, () => {
      for (let done = 0; done < bytes.length; )
        done += writeSync(fd, bytes, done, bytes.length - done, at + done)
    })
    return undefined
  }

  endFile(): void {
    const { fd, path, size, end, attributes } = this.#file!
    withPathInErrors(path, () => {
      if (end < size) ftruncateSync(fd, size)
      applyFileAttributes(fd, attributes, this.#owner)
    })
    this.#file = undefined
    closeSync(fd)
  }

  hardLink(path: string, to: string): void {
    const source = this.#enterParent(to)
    const from = source.parent.duplicate()
    try {
      const { parent, name } = this.#enterParent(path)
      withPathInErrors(path, () => linkSync(from.at(source.name), parent.at(name)))
    } finally {
      from.close()
    }
    this.links += 1
  }

  /** Created at the end, so that no member can be written through it. */
  symlink(path: string, target: string, mtime: number): void {
    this.#links.push({ path, target, mtime })
    this.links += 1
  }

  /** Creates the links and applies directory attributes; yields after each short step. */
  *finish(): Generator<undefined> {
    for (const link of this.#links) {
      this.#makeLink(link)
      yield
    }
    this.#enter('')
    yield* this.#applyDirectoryAttributes()
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd)
    this.#file = undefined
    this.#stack.close()
  }

  #makeLink({ path, target, mtime }: StagedLink): void {
    const { parent, name } = this.#enterParent(path)
    const time = timeFor(mtime)
    withPathInErrors(path, () => {
      const at = parent.at(name)
      symlinkSync(toBytes(target), at)
      if (this.#owner !== undefined) lchownSync(at, this.#owner.uid, this.#owner.gid)
      lutimesSync(at, time, time)
    })
  }

  /** Innermost first: a directory's mode may forbid access to its entries, and its time changes with them. */
  *#applyDirectoryAttributes(): Generator<undefined> {
    const iterators = [this.#folders[0]!.below.values()]
    for (let iterator = iterators.at(-1); iterator !== undefined; iterator = iterators.at(-1)) {
      const { done, value: folder } = iterator.next()
      if (!done) {
        this.#descend(folder.name)
        iterators.push(folder.below.values())
        continue
      }
      iterators.pop()
      if (iterators.length === 0) return
      const path = this.#pathHere()
      withPathInErrors(path, () => applyDirectoryAttributes(this.#here(), this.#folders.at(-1)!, this.#owner))
      this.#ascend()
      yield
    }
  }

  #enterParent(path: string): { readonly parent: Handle; readonly name: string } {
    const slash = path.lastIndexOf('/')
    this.#enter(slash < 0 ? '' : path.slice(0, slash))
    return { parent: this.#here(), name: path.slice(slash + 1) }
  }

  /** Enters a directory and creates missing ones on the path. */
  #enter(path: string): void {
    if (path === this.#parent) return
    const names = path === '' ? [] : path.split('/')
    let common = 0
    while (common < names.length && this.#folders[common + 1]?.name === names[common]) common += 1
    while (this.#stack.depth > common) this.#ascend()
    for (const name of names.slice(common)) this.#descend(name)
    this.#parent = path
  }

  #descend(name: string): void {
    const here = this.#here()
    const folder = this.#folders.at(-1)!
    let next = folder.below.get(name)
    if (next === undefined) {
      withPathInErrors(this.#pathHere(name), () => mkdirSync(here.at(name), 0o700))
      next = newFolder(name)
      folder.below.set(name, next)
      this.directories += 1
    }
    const handle = withPathInErrors(this.#pathHere(name), () => here.entry(name))
    if (handle?.kind !== 'directory') {
      handle?.close()
      throw changedMeanwhile(this.#pathHere(name))
    }
    this.#stack.push(name, handle)
    this.#folders.push(next)
    // Not a valid parent: `#enter` sets the path at its end.
    this.#parent = '/'
  }

  #ascend(): void {
    this.#stack.pop()
    this.#folders.pop()
    this.#parent = '/'
  }

  #here(): Handle {
    const { here } = this.#stack
    if (here === undefined) throw changedMeanwhile(this.#pathHere())
    return here
  }

  #pathHere(name?: string): string {
    const names = this.#folders.slice(1).map((folder) => folder.name)
    return [...names, ...(name === undefined ? [] : [name])].join('/') || '.'
  }
}

function newFolder(name: string): Folder {
  return { name, below: new Map(), mode: 0o755, mtime: undefined }
}

function changedMeanwhile(path: string): VitrineError {
  return new VitrineError('file_busy', `${path} was changed while the archive was unpacked.`)
}

async function writeAsync(fd: number, bytes: Uint8Array, at: number, path: string): Promise<void> {
  try {
    for (let done = 0; done < bytes.length; )
      done += (await writePart(fd, bytes, done, bytes.length - done, at + done)).bytesWritten
  } catch (error) {
    withPathInErrors(path, () => {
      throw error
    })
  }
}
