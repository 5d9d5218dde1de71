import { close, fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { VitrineError } from '@vitrine/protocol'
import { sourceFailed } from './directories/errors.ts'
import { bufferedReader } from './streams/buffered-reader.ts'
import { cancelled } from './time-slice.ts'

/** A pull-based source of bytes. A chunk is valid until the next call of `next()`. */
export interface ByteSource {
  next(): Promise<Uint8Array | undefined>
  /** Stops the source. May be called during `next()`, and more than once. */
  cancel(): Promise<void>
}

export type ArchiveInput = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Uint8Array | ByteSource

export function byteSourceOf(archive: ArchiveInput, signal: AbortSignal | undefined): ByteSource {
  if (archive instanceof Uint8Array) return bytesSource(archive)
  if ('next' in archive && 'cancel' in archive) return archive
  if ('getReader' in archive) {
    if (archive.locked)
      throw new VitrineError('argument_invalid', 'archive: the stream is locked by another reader.')
    const reader = bufferedReader(archive)
    return cancellableSource(reader.read, reader.cancel, signal)
  }
  if (!(Symbol.asyncIterator in archive))
    throw new VitrineError('argument_invalid', 'archive: expected a Uint8Array or a ReadableStream.')
  const iterator = archive[Symbol.asyncIterator]()
  return cancellableSource(
    async () => {
      const { done, value } = await iterator.next()
      return done ? undefined : value
    },
    async () => void (await iterator.return?.()),
    signal,
  )
}

function bytesSource(bytes: Uint8Array): ByteSource {
  let rest: Uint8Array | undefined = bytes
  return {
    async next() {
      const chunk = rest
      rest = undefined
      return chunk
    },
    async cancel() {
      rest = undefined
    },
  }
}

/** Wraps a caller's stream, which may never settle: after a cancel it is no longer waited for. */
function cancellableSource(
  next: () => Promise<Uint8Array | undefined>,
  cancel: () => Promise<void>,
  signal: AbortSignal | undefined,
): ByteSource {
  let isOver = false
  let rejectPending: ((error: VitrineError) => void) | undefined
  const stop = () => {
    signal?.removeEventListener('abort', stop)
    if (isOver) return
    isOver = true
    if (signal?.aborted) rejectPending?.(cancelled(signal))
    cancel().catch(() => undefined)
  }
  signal?.addEventListener('abort', stop)
  return {
    next() {
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>()
      if (signal?.aborted) stop()
      if (signal?.aborted) return Promise.reject(cancelled(signal))
      rejectPending = reject
      next().then(
        (chunk) => {
          if (chunk === undefined || chunk instanceof Uint8Array) resolve(chunk)
          else reject(new VitrineError('argument_invalid', `archive: expected bytes, got ${typeof chunk}.`))
        },
        (error: unknown) => reject(sourceFailed('archive', error)),
      )
      return promise
    },
    async cancel() {
      stop()
    },
  }
}

const chunkBytes = 1024 * 1024
const smallestChunkBytes = 64 * 1024
const readPart = promisify(read)
const closeFd = promisify(close)

/** Reads a file from its current position, one chunk ahead. Closes it at the end or when cancelled. */
export function fileByteSource(fd: number): ByteSource {
  // A pipe has no size, and a file may grow.
  const bufferBytes = Math.min(Math.max(fstatSync(fd).size, smallestChunkBytes), chunkBytes)
  const buffers = [Buffer.allocUnsafeSlow(bufferBytes), Buffer.allocUnsafeSlow(bufferBytes)]
  let bufferIndex = 0
  let closing: Promise<void> | undefined
  const readNext = () => {
    const buffer = buffers[bufferIndex]!
    bufferIndex = 1 - bufferIndex
    const reading = readPart(fd, buffer, 0, bufferBytes, null).then(({ bytesRead }) =>
      bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead),
    )
    // The read may fail before `next()` awaits it, which must not be an unhandled rejection.
    reading.catch(() => undefined)
    return reading
  }
  let ahead = readNext()
  const finish = () => {
    closing ??= ahead.catch(() => undefined).then(() => closeFd(fd))
    return closing
  }
  return {
    async next() {
      if (closing !== undefined) return undefined
      const chunk = await ahead
      if (chunk === undefined) await finish()
      else if (closing === undefined) ahead = readNext()
      return chunk
    },
    cancel: finish,
  }
}
