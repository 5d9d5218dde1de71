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
import {
  bufferedReader,
  cancelled,
  type FileIdentity,
  fileError,
  type Handle,
  must,
  mustChange,
  type ResolvedPath,
  sourceFailed,
  walk,
} from '@vitrine/archives'
import { type FileStat, randomHex, VitrineError, type WriteOptions } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
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
import type { StagedFile } from './staging.ts'

export type FileContent = string | Uint8Array | ReadableStream<Uint8Array>

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants
const newMode = 0o644
const smallBytes = 64 * 1024
const partBytes = 1024 * 1024
const readPart = promisify(readFd)
const writePart = promisify(writeFd)

/** Writes the whole file or nothing: into a staged file on the same file system, which is then renamed. */
export async function writeFile(
  context: FileContext,
  path: string,
  content: FileContent,
  options: WriteOptions,
  identity: FileIdentity | undefined,
): Promise<FileStat> {
  const { signal, append = false } = options
  checkMode(options.mode)
  if (signal?.aborted) throw cancelled(signal)
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  // Check the target before reading anything from the stream.
  if (!(bytes instanceof Uint8Array))
    walk(context.roots, path, { identity }, (resolved) => checkTarget(context, resolved, options, identity))
  let draft: StagedFile | undefined
  try {
    draft = context.staging.draft()
    const written = draft
    if (bytes instanceof Uint8Array) await writeAll(written.fd, bytes)
    else await drain(bytes, written.fd, signal)
    if (signal?.aborted) throw cancelled(signal)
    const added = walk(context.roots, path, { identity }, (resolved) => {
      checkTarget(context, resolved, options, identity)
      if (!append || resolved.entry === undefined)
        return publish(context, resolved, written, options, identity)
      return {
        fd: resolved.entry.open(O_WRONLY | O_APPEND | O_NONBLOCK),
        shown: context.roots.displayPath(resolved.path),
      }
    })
    return 'fd' in added ? await appendTo(added.fd, written.fd, added.shown, options.mode) : added
  } catch (error) {
    throw fileError(error, path)
  } finally {
    draft?.drop()
  }
}

function checkTarget(
  context: FileContext,
  resolved: ResolvedPath,
  options: WriteOptions,
  identity: FileIdentity | undefined,
): void {
  const { entry, parent, missing } = resolved
  const shown = context.roots.displayPath(resolved.path)
  if (entry?.kind === 'directory') throw new VitrineError('file_is_directory', `${shown} is a directory.`)
  if (entry !== undefined && entry.kind !== 'file')
    throw new VitrineError('file_not_regular', `${shown} is not a regular file.`)
  if (entry === undefined && resolved.asDirectory)
    throw new VitrineError('file_is_directory', `${shown}/ names a directory, not a file.`)
  mustBeWritable(context, resolved)
  if (entry !== undefined) must(entry, 'write', identity, shown)
  else if (parent !== undefined) mustChange(parent, undefined, identity, shown)
  if (missing.length > 1 && options.parents !== true)
    throw new VitrineError('file_not_found', `The directory of ${shown} does not exist.`)
}

/** Publishes a staged file at a path, with the owner and mode of the file that it replaces, if any. */
export function publish(
  context: FileContext,
  resolved: ResolvedPath,
  draft: StagedFile,
  options: WriteOptions,
  identity: FileIdentity | undefined,
): FileStat {
  const existing = resolved.entry?.stats
  const owner = existing !== undefined && givesFiles ? existing : ownerAt(context, resolved.path, identity)
  giveToOwner(draft.fd, owner, options.mode ?? existing?.mode ?? newMode)
  withParents(context, resolved, { parents: options.parents, identity }, (parent, name) =>
    publishAt(draft, parent, name),
  )
  return fileStat(context.roots.displayPath(resolved.path), fstatSync(draft.fd))
}

/** Renames a staged file into a directory. On another file system, copies it next to the target and renames the copy. */
function publishAt(draft: StagedFile, parent: Handle, name: string): void {
  try {
    draft.publish(parent, name)
  } catch (error) {
    if (systemErrorCode(error) !== 'EXDEV') throw error
    const beside = `.vitrine-${randomHex(6)}`
    // Another process may replace the copy, so owner and mode are set through the descriptor created here.
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

/** Appends a file to another. If that fails halfway, truncates the target to its previous size. */
async function appendTo(fd: number, source: number, shown: string, mode?: number): Promise<FileStat> {
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
    return fileStat(shown, fstatSync(fd))
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
    throw new VitrineError('argument_invalid', 'data: the stream is locked by another reader.')
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
