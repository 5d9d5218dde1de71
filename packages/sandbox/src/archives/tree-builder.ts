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
import { about } from '../files/errors.ts'
import { toBytes } from '../files/exact-text.ts'
import type { Handle } from '../files/handle.ts'
import { type Attributes, type Owner, settleDirectory, settleFile, timeFor } from './attributes.ts'
import { DirectoryStack } from './directory-stack.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
/** Less is written at once, more of it aside. */
const smallBytes = 128 * 1024
const writePart = promisify(write)

interface Folder {
  readonly name: string
  readonly below: Map<string, Folder>
  mode: number
  mtime: number | undefined
}

interface OpenFile {
  readonly path: string
  readonly fd: number
  readonly size: number
  readonly attributes: Attributes
  /** Up to where it was written. */
  end: number
}

interface StagedLink {
  readonly path: string
  readonly target: string
  readonly mtime: number
}

/** Makes a tree in an empty directory that nobody else uses. What could get in the way of the rest is done last. */
export class TreeBuilder {
  readonly #owner: Owner | undefined
  readonly #trail: DirectoryStack
  readonly #folders: Folder[]
  #parent = ''
  #file: OpenFile | undefined
  readonly #links: StagedLink[] = []
  files = 0
  directories = 0
  links = 0
  bytes = 0

  constructor(into: Handle, owner: Owner | undefined) {
    this.#owner = owner
    this.#trail = new DirectoryStack(into)
    this.#folders = [newFolder('')]
  }

  directory(path: string, { mode, mtime }: Attributes): void {
    this.#enter(path)
    const folder = this.#folders.at(-1)!
    folder.mode = mode
    folder.mtime = mtime
  }

  /** To be followed by `write` and `endFile`. */
  beginFile(path: string, size: number, attributes: Attributes): void {
    const { parent, name } = this.#placeOf(path)
    const flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY
    const fd = about(path, () => openSync(parent.at(name), flags, 0o600))
    this.#file = { path, fd, size, attributes, end: 0 }
    this.files += 1
  }

  /** A promise where it takes longer. */
  write(bytes: Uint8Array, at: number): Promise<void> | undefined {
    const { fd, path } = this.#file!
    this.bytes += bytes.length
    this.#file!.end = at + bytes.length
    if (bytes.length > smallBytes) return writeAside(fd, bytes, at, path)
    about(path, () => {
      for (let done = 0; done < bytes.length; )
        done += writeSync(fd, bytes, done, bytes.length - done, at + done)
    })
    return undefined
  }

  endFile(): void {
    const { fd, path, size, end, attributes } = this.#file!
    about(path, () => {
      if (end < size) ftruncateSync(fd, size)
      settleFile(fd, attributes, this.#owner)
    })
    this.#file = undefined
    closeSync(fd)
  }

  hardLink(path: string, to: string): void {
    const source = this.#placeOf(to)
    const from = source.parent.duplicate()
    try {
      const { parent, name } = this.#placeOf(path)
      about(path, () => linkSync(from.at(source.name), parent.at(name)))
    } finally {
      from.close()
    }
    this.links += 1
  }

  /** Is made at the end, so that nothing can be written through it. */
  symlink(path: string, target: string, mtime: number): void {
    this.#links.push({ path, target, mtime })
    this.links += 1
  }

  /** Each step is a short one. */
  *finish(): Generator<undefined> {
    for (const link of this.#links) {
      this.#makeLink(link)
      yield
    }
    this.#enter('')
    yield* this.#settleBelow()
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd)
    this.#file = undefined
    this.#trail.close()
  }

  #makeLink({ path, target, mtime }: StagedLink): void {
    const { parent, name } = this.#placeOf(path)
    const time = timeFor(mtime)
    about(path, () => {
      const at = parent.at(name)
      symlinkSync(toBytes(target), at)
      if (this.#owner !== undefined) lchownSync(at, this.#owner.uid, this.#owner.gid)
      lutimesSync(at, time, time)
    })
  }

  /** The deepest first: a directory may forbid what is below it, and its time changes with what is put there. */
  *#settleBelow(): Generator<undefined> {
    const ways = [this.#folders[0]!.below.values()]
    for (let way = ways.at(-1); way !== undefined; way = ways.at(-1)) {
      const { done, value: folder } = way.next()
      if (!done) {
        this.#descend(folder.name)
        ways.push(folder.below.values())
        continue
      }
      ways.pop()
      if (ways.length === 0) return
      const path = this.#pathHere()
      about(path, () => settleDirectory(this.#here(), this.#folders.at(-1)!, this.#owner))
      this.#ascend()
      yield
    }
  }

  #placeOf(path: string): { readonly parent: Handle; readonly name: string } {
    const slash = path.lastIndexOf('/')
    this.#enter(slash < 0 ? '' : path.slice(0, slash))
    return { parent: this.#here(), name: path.slice(slash + 1) }
  }

  /** Goes to a directory, and makes those on the way that are missing. */
  #enter(path: string): void {
    if (path === this.#parent) return
    const names = path === '' ? [] : path.split('/')
    let common = 0
    while (common < names.length && this.#folders[common + 1]?.name === names[common]) common += 1
    while (this.#trail.depth > common) this.#ascend()
    for (const name of names.slice(common)) this.#descend(name)
    this.#parent = path
  }

  #descend(name: string): void {
    const here = this.#here()
    const folder = this.#folders.at(-1)!
    let next = folder.below.get(name)
    if (next === undefined) {
      about(this.#pathHere(name), () => mkdirSync(here.at(name), 0o700))
      next = newFolder(name)
      folder.below.set(name, next)
      this.directories += 1
    }
    const handle = about(this.#pathHere(name), () => here.entry(name))
    if (handle?.kind !== 'directory') {
      handle?.close()
      throw changedMeanwhile(this.#pathHere(name))
    }
    this.#trail.push(name, handle)
    this.#folders.push(next)
    // The path is set by those who went all the way.
    this.#parent = '/'
  }

  #ascend(): void {
    this.#trail.pop()
    this.#folders.pop()
    this.#parent = '/'
  }

  #here(): Handle {
    const { here } = this.#trail
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

async function writeAside(fd: number, bytes: Uint8Array, at: number, path: string): Promise<void> {
  try {
    for (let done = 0; done < bytes.length; )
      done += (await writePart(fd, bytes, done, bytes.length - done, at + done)).bytesWritten
  } catch (error) {
    about(path, () => {
      throw error
    })
  }
}
