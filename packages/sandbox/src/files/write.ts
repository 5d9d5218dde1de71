import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  read as readFd,
  renameSync,
  unlinkSync,
  write as writeFd,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { type FileStat, randomHex, VitrineError, type WriteOptions } from '@vitrine/protocol'
import { bufferedReader } from './buffered-reader.ts'
import { fileError, sourceFailed } from './errors.ts'
import {
  checkMode,
  type FileContext,
  fileStat,
  givesFiles,
  giveToOwner,
  mustBeWritable,
  ownerAt,
  plainMode,
  withParents,
} from './file-context.ts'
import { errnoOf, type Handle } from './handle.ts'
import { type Identity, must, mustChange } from './identity.ts'
import type { Draft } from './staging.ts'
import { cancelled } from './time-slice.ts'
import { type ResolvedPath, walk } from './walk.ts'

export type FileContent = string | Uint8Array | ReadableStream<Uint8Array>

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants
const newMode = 0o644
const smallBytes = 64 * 1024
const partBytes = 1024 * 1024
const readPart = promisify(readFd)
const writePart = promisify(writeFd)

/** Writes all of it or nothing: it is written elsewhere on the same file system and then takes its name. */
export async function writeFile(
  room: FileContext,
  path: string,
  content: FileContent,
  options: WriteOptions,
  as: Identity | undefined,
): Promise<FileStat> {
  const { signal, append = false } = options
  checkMode(options.mode)
  if (signal?.aborted) throw cancelled(signal)
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  // Nothing is read from a stream that has nowhere to go.
  if (!(bytes instanceof Uint8Array))
    walk(room.places, path, { as }, (spot) => checkTarget(room, spot, options, as))
  let draft: Draft | undefined
  try {
    draft = room.staging.draft()
    const written = draft
    if (bytes instanceof Uint8Array) await writeAll(written.fd, bytes)
    else await drain(bytes, written.fd, signal)
    if (signal?.aborted) throw cancelled(signal)
    const added = walk(room.places, path, { as }, (spot) => {
      checkTarget(room, spot, options, as)
      if (!append || spot.entry === undefined) return publish(room, spot, written, options, as)
      return {
        fd: spot.entry.open(O_WRONLY | O_APPEND | O_NONBLOCK),
        told: room.places.displayPath(spot.path),
      }
    })
    return 'fd' in added ? await addTo(added.fd, written.fd, added.told, options.mode) : added
  } catch (error) {
    throw fileError(error, path)
  } finally {
    draft?.drop()
  }
}

function checkTarget(
  room: FileContext,
  spot: ResolvedPath,
  options: WriteOptions,
  as: Identity | undefined,
): void {
  const { entry, parent, missing } = spot
  const told = room.places.displayPath(spot.path)
  if (entry?.kind === 'directory') throw new VitrineError('file_is_directory', `${told} is a directory.`)
  if (entry !== undefined && entry.kind !== 'file')
    throw new VitrineError('file_not_regular', `${told} is not a regular file.`)
  if (entry === undefined && spot.asDirectory)
    throw new VitrineError('file_is_directory', `${told}/ names a directory, not a file.`)
  mustBeWritable(room, spot)
  if (entry !== undefined) must(entry, 'write', as, told)
  else if (parent !== undefined) mustChange(parent, undefined, as, told)
  if (missing.length > 1 && options.parents !== true)
    throw new VitrineError('file_not_found', `The directory of ${told} does not exist.`)
}

/** A draft takes its place, as the file that was there or as a new one. */
export function publish(
  room: FileContext,
  spot: ResolvedPath,
  draft: Draft,
  options: WriteOptions,
  as: Identity | undefined,
): FileStat {
  const existing = spot.entry?.stats
  const owner = existing !== undefined && givesFiles ? existing : ownerAt(room, spot.path, as)
  giveToOwner(draft.fd, owner, options.mode ?? existing?.mode ?? newMode)
  withParents(room, spot, { parents: options.parents, as }, (parent, name) => placeAt(draft, parent, name))
  return fileStat(room.places.displayPath(spot.path), fstatSync(draft.fd))
}

/** In a place on another file system the last step is made there. */
function placeAt(draft: Draft, parent: Handle, name: string): void {
  try {
    draft.publish(parent, name)
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error
    const beside = `.vitrine-${randomHex(6)}`
    // Whoever watches the place may put something else there: what gets an owner is what was made here.
    const fd = openSync(parent.at(beside), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
    try {
      try {
        const { uid, gid, mode } = fstatSync(draft.fd)
        copyFileSync(`/proc/self/fd/${draft.fd}`, `/proc/self/fd/${fd}`)
        giveToOwner(fd, givesFiles ? { uid, gid } : undefined, mode)
      } finally {
        closeSync(fd)
      }
      renameSync(parent.at(beside), parent.at(name))
    } catch (failure) {
      unlinkSync(parent.at(beside))
      throw failure
    }
  }
}

/** What does not fit as a whole is taken back. */
async function addTo(fd: number, source: number, told: string, mode?: number): Promise<FileStat> {
  try {
    const { size: before, mode: was } = fstatSync(fd)
    const wanted = plainMode(mode ?? was)
    if (wanted !== (was & 0o7777)) fchmodSync(fd, wanted)
    try {
      const part = Buffer.allocUnsafe(Math.min(partBytes, fstatSync(source).size))
      for (let at = 0; ; ) {
        const { bytesRead } = await readPart(source, part, 0, part.length, at)
        if (bytesRead === 0) break
        await writeAll(fd, part.subarray(0, bytesRead))
        at += bytesRead
      }
    } catch (error) {
      ftruncateSync(fd, before)
      throw error
    }
    return fileStat(told, fstatSync(fd))
  } finally {
    closeSync(fd)
  }
}

async function drain(
  stream: ReadableStream<Uint8Array>,
  fd: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (stream.locked)
    throw new VitrineError('argument_invalid', 'data: somebody else reads this stream already.')
  const reader = bufferedReader(stream)
  const abort = () => void reader.cancel(signal?.reason).catch(() => undefined)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    for (;;) {
      const value = await reader.read().catch((error: unknown) => {
        throw sourceFailed('data', error)
      })
      if (signal?.aborted) throw cancelled(signal)
      if (value === undefined) return
      if (!(value instanceof Uint8Array))
        throw new VitrineError('argument_invalid', `data: expected a stream of bytes, got ${typeof value}.`)
      await writeAll(fd, value)
    }
  } catch (error) {
    await reader.cancel(error).catch(() => undefined)
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

export async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const left = bytes.length - at
    at +=
      left <= smallBytes
        ? writeSync(fd, bytes, at, left)
        : (await writePart(fd, bytes, at, Math.min(left, partBytes))).bytesWritten
  }
}
