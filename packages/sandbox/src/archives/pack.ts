import { closeSync, constants, fstatSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import { type LeftOut, VitrineError } from '@vitrine/protocol'
import { about, fileError } from '../files/errors.ts'
import type { Handle } from '../files/handle.ts'
import { TimeSlice } from '../files/time-slice.ts'
import { extentsOf } from './holes.ts'
import { paddingOf } from './tar/blocks.ts'
import { headerRoom, sparseContent, type WrittenMember, writeHeaders } from './tar/writer.ts'
import { type TreeEntry, walkTree } from './tree.ts'

export interface PackOptions {
  /** One name of the directory instead of all of it. */
  readonly only?: string
  /** Returns whether a path, with everything below it, is left out. */
  readonly skip?: (path: string) => boolean
  /** Something that a tar of a workspace does not hold. */
  readonly onLeftOut?: (path: string, what: LeftOut['what']) => void
  /** A file was written to while it was packed: what is in the tar may be neither its old nor its new content. */
  readonly onChanged?: (path: string) => void
  readonly signal?: AbortSignal
}

const { O_NONBLOCK, O_RDONLY } = constants
const chunkBytes = 512 * 1024
/** Smaller files are read at once, larger ones aside. */
const smallBytes = 128 * 1024
const maxPathLength = 16 * 1024
const readPart = promisify(read)

/**
 * A directory as a tar, itself as `./` first. The memory of a chunk is used again once the second one after it is asked
 * for.
 */
export async function* pack(directory: Handle, options: PackOptions = {}): AsyncGenerator<Uint8Array, void> {
  const { only, skip = () => false, signal } = options
  const pace = new TimeSlice(signal)
  const out = new Output()
  const firstNames = new FirstNames()
  const tree = walkTree(directory, { only, skip })
  try {
    if (only === undefined) out.header(memberOf('./', 'directory', fstatSync(directory.fd)))
    let packed = 0
    for (const found of tree) {
      if (pace.expired) await pace.yieldToEventLoop()
      if (found === undefined) continue
      packed += 1
      if (found.path.length > maxPathLength) throw fileError(tooLong, found.path)
      const member = described(found, firstNames, options)
      if (member === undefined) continue
      if (!out.fits(roomFor(member))) yield out.take()
      if (member.kind !== 'file') out.header(member)
      else if (member.size <= smallBytes) packSmall(found, member, out, options)
      else yield* packLarge(found, member, out, pace, options)
    }
    if (only !== undefined && packed === 0)
      throw new VitrineError('file_not_found', `There is no ${only.toWellFormed()}.`)
    if (!out.fits(endBytes)) yield out.take()
    out.zeros(endBytes)
    yield out.take()
  } finally {
    tree.return(undefined)
  }
}

/** Two empty blocks end a tar. */
const endBytes = 1024

const tooLong = Object.assign(new Error('ENAMETOOLONG'), { code: 'ENAMETOOLONG' })

function described(
  { path, name, handle, parent }: TreeEntry,
  firstNames: FirstNames,
  { onLeftOut }: PackOptions,
): WrittenMember | undefined {
  const { stats } = handle
  switch (handle.kind) {
    case 'directory':
      return memberOf(`${path}/`, 'directory', stats)
    case 'symlink': {
      const target = linkTarget(parent, name)
      return target === undefined ? undefined : { ...memberOf(path, 'symlink', stats), target }
    }
    case 'file': {
      const first = firstNames.of(handle, path)
      if (first !== undefined) return { ...memberOf(path, 'hardlink', stats), target: first }
      return { ...memberOf(path, 'file', stats), size: stats.size }
    }
    case 'other':
      onLeftOut?.(path, stats.isFIFO() ? 'fifo' : stats.isSocket() ? 'socket' : 'device')
      return undefined
  }
}

function memberOf(name: string, kind: WrittenMember['kind'], stats: Stats): WrittenMember {
  const { mode, uid, gid, mtimeMs } = stats
  const mtime = Math.round(mtimeMs * 1_000) / 1e6
  return { name, kind, mode: mode & 0o7777, mtime, size: 0, target: '', uid, gid }
}

/** Nothing when it is another thing by now. */
function linkTarget(parent: Handle, name: string): string | undefined {
  try {
    return parent.readLink(name)
  } catch {
    return undefined
  }
}

/** The bytes that must fit into one chunk: header and content of a small file. One byte more detects that it has grown. */
function roomFor(member: WrittenMember): number {
  const { size } = member
  return headerRoom(member) + (size <= smallBytes ? size + 1 + paddingOf(size) : 0)
}

function packSmall(
  { path, handle }: TreeEntry,
  member: WrittenMember,
  out: Output,
  { onChanged }: PackOptions,
): void {
  const { size } = member
  about(path, () => {
    const fd = handle.open(O_RDONLY | O_NONBLOCK)
    try {
      out.header(member)
      if (out.readSmall(fd, size) !== size) onChanged?.(path)
    } finally {
      closeSync(fd)
    }
  })
}

async function* packLarge(
  { path, handle }: TreeEntry,
  member: WrittenMember,
  out: Output,
  pace: TimeSlice,
  { onChanged }: PackOptions,
): AsyncGenerator<Uint8Array, void> {
  const { size } = member
  const fd = about(path, () => handle.open(O_RDONLY | O_NONBLOCK))
  try {
    if (handle.stats.blocks * 512 < size) {
      const sparse = sparseContent(await extentsOf(fd, size, pace), size)
      yield* packSparse(fd, { ...member, sparse }, out)
    } else {
      out.header(member)
      yield* packPart(fd, 0, size, out)
      out.zeros(paddingOf(size))
    }
    if (fstatSync(fd).size !== size) onChanged?.(path)
  } catch (error) {
    throw fileError(error, path)
  } finally {
    closeSync(fd)
  }
}

async function* packSparse(fd: number, member: WrittenMember, out: Output): AsyncGenerator<Uint8Array, void> {
  const { map, extents } = member.sparse!
  out.header(member)
  for (let at = 0; at < map.length; ) {
    at += out.copy(map, at)
    if (out.isFull) yield out.take()
  }
  let stored = 0
  for (const { at, length } of extents) {
    yield* packPart(fd, at, length, out)
    stored += length
  }
  out.zeros(paddingOf(stored))
}

/** Exactly that many bytes, read while the chunk before is used: zeros in place of what the file has lost. */
async function* packPart(
  fd: number,
  from: number,
  length: number,
  out: Output,
): AsyncGenerator<Uint8Array, void> {
  let ahead: Promise<number> | undefined
  try {
    for (let done = 0; done < length; ) {
      done += await (ahead ?? out.readLarge(fd, from + done, length - done))
      ahead = undefined
      if (!out.isFull) continue
      const chunk = out.take()
      if (done < length) ahead = out.readLarge(fd, from + done, length - done)
      yield chunk
    }
  } finally {
    // The file is closed after it.
    await ahead?.catch(() => undefined)
  }
}

/** Collects the packed bytes into chunks. Each chunk has spare room for the padding of a block. */
class Output {
  /** Three buffers: the consumer reads one, the next is queued, and this class fills the third. */
  readonly #chunks = Array.from({ length: 3 }, () => Buffer.allocUnsafeSlow(chunkBytes + 1024))
  #turn = 0
  #chunk = this.#chunks[0]!
  #end = 0

  get isFull(): boolean {
    return this.#end >= chunkBytes
  }

  fits(bytes: number): boolean {
    return this.#end + bytes <= chunkBytes
  }

  take(): Uint8Array {
    const chunk = this.#chunk.subarray(0, this.#end)
    this.#turn = (this.#turn + 1) % this.#chunks.length
    this.#chunk = this.#chunks[this.#turn]!
    this.#end = 0
    return chunk
  }

  header(member: WrittenMember): void {
    this.#end = writeHeaders(this.#chunk, this.#end, member)
  }

  zeros(count: number): void {
    this.#chunk.fill(0, this.#end, this.#end + count)
    this.#end += count
  }

  copy(from: Buffer, at: number): number {
    const count = from.copy(this.#chunk, this.#end, at, at + chunkBytes - this.#end)
    this.#end += count
    return count
  }

  /** Takes that many bytes and their padding in, and says how many there were: one more for a file that has grown. */
  readSmall(fd: number, size: number): number {
    let got = 0
    while (got < size) {
      const count = readSync(fd, this.#chunk, this.#end + got, size + 1 - got, null)
      if (count === 0) break
      got += count
    }
    const kept = Math.min(got, size)
    this.#end += kept
    this.zeros(size - kept + paddingOf(size))
    return got
  }

  /** Takes in what there is room for, zeros where the file has ended. */
  async readLarge(fd: number, at: number, length: number): Promise<number> {
    const wanted = Math.min(length, chunkBytes - this.#end)
    const { bytesRead } = await readPart(fd, this.#chunk, this.#end, wanted, at)
    if (bytesRead === 0) this.zeros(wanted)
    else this.#end += bytesRead
    return bytesRead === 0 ? wanted : bytesRead
  }
}

/** Files that have several names are packed once; the other names are links to the first. */
class FirstNames {
  readonly #names = new Map<string, string>()

  of({ fd, stats }: Handle, path: string): string | undefined {
    if (stats.nlink < 2) return undefined
    // Numbers of files may be larger than a number can tell apart.
    const { dev, ino } = fstatSync(fd, { bigint: true })
    const key = `${dev}:${ino}`
    const first = this.#names.get(key)
    if (first === undefined) this.#names.set(key, path)
    return first
  }
}
