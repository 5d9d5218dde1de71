import { fstatSync, statSync } from 'node:fs'
import { type LeftOut, type Unpacked, VitrineError } from '@vitrine/protocol'
import { fileError } from '../directories/errors.ts'
import { Handle } from '../directories/handle.ts'
import { packSource } from '../pack-source.ts'
import { closingStream } from '../streams/closing-stream.ts'
import { maxLeftOut } from '../unpacking.ts'
import { type OnTransferProgress, TransferProgress } from './progress.ts'
import { resolveDirectory } from './resolve-directory.ts'

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined
  /** Must not throw. */
  readonly onProgress?: OnTransferProgress | undefined
}

/**
 * Packs a directory of this machine and passes the archive to `upload`. Fails if an entry is removed or changed while it is
 * read, so that half of it never looks complete.
 */
export async function uploadDirectory(
  upload: (archive: ReadableStream<Uint8Array>) => Promise<Unpacked>,
  directory: string,
  { onProgress }: Pick<TransferOptions, 'onProgress'>,
): Promise<Unpacked> {
  const path = resolveDirectory(directory)
  const source = openSource(path)
  const progress = new TransferProgress(onProgress)
  const leftOut: LeftOut[] = []
  let leftOutCount = 0
  const tar = packSource(source, 'tar', {
    onMember: progress.entry,
    onLeftOut: (name, kind) => {
      leftOutCount += 1
      if (leftOut.length < maxLeftOut) leftOut.push({ path: name, kind })
    },
    onVanished: (below) => {
      // A removal of the whole directory may be seen first in one below it.
      const isTop = below === '' || fstatSync(source.fd).nlink === 0
      throw interrupted('file_not_found', isTop ? path : `${path}/${below}`, 'removed')
    },
    onChanged: (below) => {
      throw interrupted('file_busy', `${path}/${below}`, 'changed')
    },
  })
  // `upload` may report it with another code, as a failure of its source.
  let failure: { readonly error: unknown } | undefined
  const stream = closingStream(
    {
      ...tar,
      async next() {
        try {
          const part = await tar.next()
          if (part !== undefined) progress.part(part.byteLength)
          return part
        } catch (error) {
          failure = { error: fileError(error, path) }
          throw failure.error
        }
      },
      async close() {
        try {
          await tar.close()
        } finally {
          source.close()
        }
      },
    },
    // `upload` has the signal, and reports a cancelled call as such.
    { onEnd: () => undefined },
  )
  try {
    const unpacked = await upload(stream)
    return {
      ...unpacked,
      leftOut: [...leftOut, ...unpacked.leftOut].slice(0, maxLeftOut),
      leftOutCount: leftOutCount + unpacked.leftOutCount,
    }
  } catch (error) {
    throw failure === undefined ? error : failure.error
  } finally {
    // A stream that was not read; one that has a reader is closed by it.
    if (!stream.locked) await stream.cancel().catch(() => undefined)
  }
}

function openSource(path: string): Handle {
  try {
    if (!statSync(path).isDirectory())
      throw new VitrineError('file_not_directory', `directory: ${path} is not a directory of this machine.`)
    return Handle.directory(path)
  } catch (error) {
    const { code, message } = fileError(error, path)
    if (code !== 'file_not_found') throw fileError(error, path)
    throw new VitrineError(code, `directory: ${message} It is a path of this machine.`, { cause: error })
  }
}

function interrupted(
  code: 'file_not_found' | 'file_busy',
  path: string,
  change: 'removed' | 'changed',
): VitrineError {
  return new VitrineError(
    code,
    `directory: ${path.toWellFormed()} was ${change} while it was being uploaded; nothing was written.`,
  )
}
