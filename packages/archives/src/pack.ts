import { closeSync, constants, fstatSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import { type LeftOut, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { fileError, withPathInErrors } from './directories/errors.ts'
import { type Handle, isMissing } from './directories/handle.ts'
import { extentsOf } from './holes.ts'
import { paddingOf } from './tar/blocks.ts'
import { maxHeaderBytes, sparseContent, type WrittenMember, writeHeaders } from './tar/writer.ts'
import { TimeSlice } from './time-slice.ts'
import { type TreeEntry, walkTree } from './tree.ts'

export interface PackOptions {
  /** Packs only this entry of the directory. */
  readonly only?: string
  /** Excludes an entry with everything below it. */
  readonly skip?: (path: string) => boolean
  /** Called for each entry that is packed. */
  readonly onMember?: () => void
  /** Called for an entry that was removed before or while it was packed: '' is the packed directory itself. */
  readonly onVanished?: (path: string) => void
  /** Called for FIFOs, sockets and devices, which are not packed. */
  readonly onLeftOut?: (path: string, kind: LeftOut['kind']) => void
  /** Called for a file that changed while it was packed: the tar may have neither its old nor its new content. */
  readonly onChanged?: (path: string) => void
  readonly signal?: AbortSignal
}

const { O_NONBLOCK, O_RDONLY } = constants
const chunkBytes = 512 * 1024
/** Files up to this size are read synchronously. */
const smallBytes = 128 * 1024
const maxPathLength = 16 * 1024
const readPart = promisify(read)

/**
 * Packs a directory as a tar, with the directory itself as `./` first. The memory of a chunk is reused when the second
 * chunk after it is requested.
 */
export async function* pack(directory: Handle, options: PackOptions = {}): AsyncGenerator<Uint8Array, void> {
  const { only, skip = () => false, onMember, onVanished, signal } = options
  const timeSlice = new TimeSlice(signal)
  const out = new ChunkBuffer()
  const hardLinks = new HardLinks()
  const tree = walkTree(directory, { only, skip, onVanished })
  try {
    if (only === undefined) out.header(memberOf('./', 'directory', fstatSync(directory.fd)))
    let visited = 0
    for (const found of tree) {
      if (timeSlice.expired) await timeSlice.yieldToEventLoop()
      if (found === undefined) continue
      visited += 1
      if (found.path.length > maxPathLength) throw fileError(tooLong, found.path)
      const member = describeMember(found, hardLinks, options)
      if (member === undefined) continue
      onMember?.()
      if (!out.fits(spaceFor(member))) yield out.take()
      if (member.kind !== 'file') out.header(member)
      else if (member.size <= smallBytes) packSmall(found, member, out, options)
      else yield* packLarge(found, member, out, timeSlice, options)
    }
    if (only !== undefined && visited === 0)
      throw new VitrineError('file_not_found', `There is no ${only.toWellFormed()}.`)
    if (!out.fits(endBytes)) yield out.take()
    out.zeros(endBytes)
    yield out.take()
  } finally {
    tree.return(undefined)
  }
}

/** Two zero blocks end a tar. */
const endBytes = 1024

const tooLong = Object.assign(new Error('ENAMETOOLONG'), { code: 'ENAMETOOLONG' })

function describeMember(
  { path, name, handle, parent }: TreeEntry,
  hardLinks: HardLinks,
  { onLeftOut, onVanished }: PackOptions,
): WrittenMember | undefined {
  const { stats } = handle
  switch (handle.kind) {
    case 'directory':
      return memberOf(`${path}/`, 'directory', stats)
    case 'symlink': {
      const target = linkTarget(parent, name, path)
      if (target !== undefined) return { ...memberOf(path, 'symlink', stats), target }
      onVanished?.(path)
      return undefined
    }
    case 'file': {
      const first = hardLinks.firstPathOf(handle, path)
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

/** Returns a link's target; undefined if the link was removed or replaced by something else meanwhile. */
function linkTarget(parent: Handle, name: string, path: string): string | undefined {
  try {
    return parent.readLink(name)
  } catch (error) {
    // EINVAL: the entry is not a link.
    if (isMissing(error) || systemErrorCode(error) === 'EINVAL') return undefined
    throw fileError(error, path)
  }
}

/** The bytes that must fit into one chunk. One more byte is read to detect that a file has grown. */
function spaceFor(member: WrittenMember): number {
  const { size } = member
  return maxHeaderBytes(member) + (size <= smallBytes ? size + 1 + paddingOf(size) : 0)
}

function packSmall(
  { path, handle }: TreeEntry,
  member: WrittenMember,
  out: ChunkBuffer,
  { onChanged }: PackOptions,
): void {
  const { size } = member
  withPathInErrors(path, () => {
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
  out: ChunkBuffer,
  timeSlice: TimeSlice,
  { onChanged }: PackOptions,
): AsyncGenerator<Uint8Array, void> {
  const { size } = member
  const fd = withPathInErrors(path, () => handle.open(O_RDONLY | O_NONBLOCK))
  try {
    if (handle.stats.blocks * 512 < size) {
      const sparse = sparseContent(await extentsOf(fd, size, timeSlice), size)
      yield* packSparse(fd, { ...member, sparse }, out)
    } else {
      out.header(member)
      yield* packPart(fd, 0, size, out)
      out.zeros(paddingOf(size))
    }
    const after = fstatSync(fd)
    if (after.size !== size || after.mtimeMs !== handle.stats.mtimeMs) onChanged?.(path)
  } catch (error) {
    throw fileError(error, path)
  } finally {
    closeSync(fd)
  }
}

async function* packSparse(
  fd: number,
  member: WrittenMember,
  out: ChunkBuffer,
): AsyncGenerator<Uint8Array, void> {
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

/** Packs exactly `length` bytes, reading ahead while the caller uses the previous chunk. A truncated file gets zeros. */
async function* packPart(
  fd: number,
  from: number,
  length: number,
  out: ChunkBuffer,
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
    // Wait for the read ahead, since the caller closes the file next.
    await ahead?.catch(() => undefined)
  }
}

/** Collects the output into chunks. There is always space for the padding of a block. */
class ChunkBuffer {
  /** Three buffers: one that the consumer uses, one already passed on, and the one being filled. */
  readonly #chunks: Buffer[] = []
  #current = 0
  #end = 0

  get isFull(): boolean {
    return this.#end >= chunkBytes
  }

  fits(bytes: number): boolean {
    return this.#end + bytes <= chunkBytes
  }

  take(): Uint8Array {
    const chunk = this.#chunk.subarray(0, this.#end)
    this.#current = (this.#current + 1) % 3
    this.#end = 0
    return chunk
  }

  /** Allocated when it is needed: a small archive needs only one. */
  get #chunk(): Buffer {
    this.#chunks[this.#current] ??= Buffer.allocUnsafeSlow(chunkBytes + 1024)
    return this.#chunks[this.#current]!
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

  /** Reads `size` bytes and adds padding. Returns how many bytes the file had, at most one more than `size`. */
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

  /** Reads as much as fits into the chunk; fills with zeros after the end of the file. */
  async readLarge(fd: number, at: number, length: number): Promise<number> {
    const wanted = Math.min(length, chunkBytes - this.#end)
    const { bytesRead } = await readPart(fd, this.#chunk, this.#end, wanted, at)
    if (bytesRead === 0) this.zeros(wanted)
    else this.#end += bytesRead
    return bytesRead === 0 ? wanted : bytesRead
  }
}

/** Packs the content of hard-linked files once; the other names become links to the first. */
class HardLinks {
  readonly #names = new Map<string, string>()

  /** Records the path of a file with several names. Returns the path of the same file that came first, if any. */
  firstPathOf({ fd, stats }: Handle, path: string): string | undefined {
    if (stats.nlink < 2) return undefined
    // Inode numbers may exceed the safe integers.
    const { dev, ino } = fstatSync(fd, { bigint: true })
    const key = `${dev}:${ino}`
    const first = this.#names.get(key)
    if (first === undefined) this.#names.set(key, path)
    return first
  }
}
