import { existsSync, fstatSync, mkdirSync } from 'node:fs'
import { randomHex, type Unpacked, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { fileError } from '../directories/errors.ts'
import { Handle } from '../directories/handle.ts'
import { removeTree } from '../directories/remove-tree.ts'
import { merge } from '../merge.ts'
import { unpack } from '../unpack.ts'
import { TransferProgress } from './progress.ts'
import { resolveDirectory } from './resolve-directory.ts'
import type { TransferOptions } from './upload-directory.ts'

/**
 * Unpacks an archive into a directory of this machine, which is created if it is missing: all of it or nothing. The rules
 * are those of an upload, because the archive comes from a sandbox.
 */
export async function downloadDirectory(
  download: () => Promise<ReadableStream<Uint8Array>>,
  directory: string,
  { signal, onProgress }: TransferOptions,
): Promise<Unpacked> {
  const path = resolveDirectory(directory)
  const progress = new TransferProgress(onProgress)
  const archive = await download()
  const target = await openTarget(path, archive)
  // Inside of the target, so that entries can be renamed into it.
  const staging = `.vitrine-${randomHex(8)}`
  let isMerging = false
  try {
    const { staged, trash } = makeStaging(target, staging)
    try {
      const { root, ...unpacked } = await unpack(staged, counted(archive, progress), {
        scheme: 'tar',
        special: 'leave-out',
        links: 'inside',
        signal,
        onMember: progress.entry,
      })
      if (root === undefined)
        throw new VitrineError('file_not_directory', 'from: expected a directory of the sandbox, got a file.')
      isMerging = true
      await merge(staged, target, { signal, trash })
      return unpacked
    } finally {
      staged.close()
      trash.close()
    }
  } catch (error) {
    const known = fileError(error, path)
    const isFileError = systemErrorCode(known.cause) !== undefined
    if (isRemoved(target)) throw removedMeanwhile(path, error)
    if (known.code === 'file_not_found' && isFileError && !existsSync(target.at(staging)))
      throw removedMeanwhile(`${path}/${staging}`, error)
    // Other errors are those of the archive.
    throw isFileError || isMerging ? namingTarget(known, path) : known
  } finally {
    await removeTree(target, staging).catch(() => undefined)
    target.close()
  }
}

async function openTarget(path: string, archive: ReadableStream<Uint8Array>): Promise<Handle> {
  try {
    mkdirSync(path, { recursive: true })
    return Handle.directory(path)
  } catch (error) {
    await archive.cancel().catch(() => undefined)
    const { code, message } = fileError(error, path)
    throw new VitrineError(code, `directory: ${message} It is a path of this machine.`, { cause: error })
  }
}

function makeStaging(target: Handle, name: string): { readonly staged: Handle; readonly trash: Handle } {
  mkdirSync(target.at(name), 0o700)
  const folders = ['staged', 'trash'].map((part) => {
    const at = `${name}/${part}`
    mkdirSync(target.at(at), 0o700)
    return Handle.directory(`${target.self}/${at}`)
  })
  return { staged: folders[0]!, trash: folders[1]! }
}

/** A removed directory has no links; it may still be open. */
function isRemoved(directory: Handle): boolean {
  return fstatSync(directory.fd).nlink === 0
}

function removedMeanwhile(path: string, cause: unknown): VitrineError {
  return new VitrineError('file_not_found', `directory: ${path} was removed while it was being written.`, {
    cause,
  })
}

/** Adds the directory, which is not one of the sandbox, to an error that names a path below it. */
function namingTarget(error: VitrineError, path: string): VitrineError {
  const { code, message, details, cause = error } = error
  if (code === 'cancelled') return error
  return new VitrineError(code, `directory: in ${path} of this machine: ${message}`, { cause, details })
}

async function* counted(
  archive: ReadableStream<Uint8Array>,
  progress: TransferProgress,
): AsyncGenerator<Uint8Array, void> {
  for await (const part of archive) {
    yield part
    // After it was unpacked, so that its entries are counted too.
    progress.part(part.byteLength)
  }
}
