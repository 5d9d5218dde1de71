import { close, closeSync, constants, read as readFd, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { type FileIdentity, fileError, must, type StreamSource, walk } from '@vitrine/archives'
import { type ReadFileOptions, VitrineError } from '@vitrine/protocol'
import { isWholeNumber } from '@vitrine/protocol/primitives'
import type { FileContext } from './file-context.ts'

const { O_NONBLOCK, O_RDONLY } = constants
const smallBytes = 64 * 1024
const partBytes = 256 * 1024
const readPart = promisify(readFd)
const closeFd = promisify(close)

/** An open file and the byte range to read: from `from`, up to and excluding `to`. */
export interface OpenFile {
  readonly fd: number
  readonly from: number
  readonly to: number
}

/** Opens a regular file; directories, devices and FIFOs are refused. */
export function openFile(
  context: FileContext,
  path: string,
  { from = 0, to }: Pick<ReadFileOptions, 'from' | 'to'>,
  identity: FileIdentity | undefined,
): OpenFile {
  checkRange(from, to)
  return walk(context.roots, path, { identity, readable: true }, ({ entry, isReadable }) => {
    if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${path}.`)
    if (entry.kind === 'directory') throw new VitrineError('file_is_directory', `${path} is a directory.`)
    if (entry.kind !== 'file') throw new VitrineError('file_not_regular', `${path} is not a regular file.`)
    must(entry, 'read', identity, path)
    const { size } = entry.stats
    if (from > size)
      throw new VitrineError(
        'range_invalid',
        `from: ${from} is beyond the end of ${path}, which has ${size} bytes.`,
        {
          details: { bytes: size },
        },
      )
    const fd = isReadable ? entry.release() : entry.open(O_RDONLY | O_NONBLOCK)
    return { fd, from, to: Math.min(to ?? size, size) }
  })
}

function checkRange(from: number, to: number | undefined): void {
  if (isWholeNumber(from) && (to === undefined || isWholeNumber(to, from))) return
  throw new VitrineError(
    'argument_invalid',
    `from, to: expected whole numbers with from <= to, got ${from} and ${to}.`,
  )
}

export function isSmall({ from, to }: OpenFile): boolean {
  return to - from <= smallBytes
}

export function closeFile({ fd }: OpenFile): void {
  closeSync(fd)
}

/** Reads the whole range synchronously. */
export function readSmall({ fd, from, to }: OpenFile, path: string): Uint8Array<ArrayBuffer> {
  try {
    const bytes = new Uint8Array(to - from)
    let got = 0
    while (got < bytes.length) {
      const count = readSync(fd, bytes, got, bytes.length - got, from + got)
      if (count === 0) break
      got += count
    }
    return bytes.subarray(0, got)
  } catch (error) {
    throw fileError(error, path)
  }
}

/** An open file as the source of a stream. */
export function fileSource({ fd, from, to }: OpenFile, path: string): StreamSource {
  let at = from
  const into = async (buffer: Uint8Array) => {
    const length = Math.min(buffer.length, to - at)
    if (length === 0) return 0
    try {
      const { bytesRead } = await readPart(fd, buffer, 0, length, at)
      at += bytesRead
      return bytesRead
    } catch (error) {
      throw fileError(error, path)
    }
  }
  return {
    into,
    async next() {
      const part = new Uint8Array(Math.min(partBytes, to - at))
      const count = await into(part)
      // Also 0 if the file was truncated since it was opened.
      return count === 0 ? undefined : part.subarray(0, count)
    },
    close: () => closeFd(fd),
  }
}
