import { close, read } from 'node:fs'
import { promisify } from 'node:util'
import { VitrineError } from '@vitrine/protocol'
import { bufferedReader } from '../files/buffered-reader.ts'
import { sourceFailed } from '../files/errors.ts'
import { cancelled } from '../files/time-slice.ts'

/** Bytes that are asked for chunk by chunk. A chunk is good until the next one is asked for. */
export interface ByteSource {
  next(): Promise<Uint8Array | undefined>
  /** Nothing more is wanted. It may be said while a chunk is awaited, and more than once. */
  cancel(): Promise<void>
}

export type ArchiveInput = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Uint8Array | ByteSource

export function pullFrom(archive: ArchiveInput, signal: AbortSignal | undefined): ByteSource {
  if (archive instanceof Uint8Array) return pullBytes(archive)
  if ('next' in archive && 'cancel' in archive) return archive
  if ('getReader' in archive) {
    if (archive.locked)
      throw new VitrineError('argument_invalid', 'archive: expected a stream that nobody else reads.')
    const reader = bufferedReader(archive)
    return pullForeign(reader.read, reader.cancel, signal)
  }
  if (!(Symbol.asyncIterator in archive))
    throw new VitrineError('argument_invalid', 'archive: expected bytes or a stream of bytes.')
  const iterator = archive[Symbol.asyncIterator]()
  return pullForeign(
    async () => {
      const { done, value } = await iterator.next()
      return done ? undefined : value
    },
    async () => void (await iterator.return?.()),
    signal,
  )
}

function pullBytes(bytes: Uint8Array): ByteSource {
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

/** Reads a stream of the caller. It may never deliver, so an abort does not wait for it. */
function pullForeign(
  next: () => Promise<Uint8Array | undefined>,
  cancel: () => Promise<void>,
  signal: AbortSignal | undefined,
): ByteSource {
  let over = false
  let giveUp: ((error: VitrineError) => void) | undefined
  const stop = () => {
    signal?.removeEventListener('abort', stop)
    if (over) return
    over = true
    if (signal?.aborted) giveUp?.(cancelled(signal))
    cancel().catch(() => undefined)
  }
  signal?.addEventListener('abort', stop)
  return {
    next() {
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>()
      if (signal?.aborted) stop()
      if (signal?.aborted) return Promise.reject(cancelled(signal))
      giveUp = reject
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
const readPart = promisify(read)
const closeFd = promisify(close)

/** A file from where it stands to its end, one chunk ahead. It is closed with the last chunk or when it is cancelled. */
export function pullFile(fd: number): ByteSource {
  const buffers = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)]
  let turn = 0
  let closing: Promise<void> | undefined
  const readNext = () => {
    const buffer = buffers[turn]!
    turn = 1 - turn
    const reading = readPart(fd, buffer, 0, chunkBytes, null).then(({ bytesRead }) =>
      bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead),
    )
    // It may fail before it is asked for.
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
