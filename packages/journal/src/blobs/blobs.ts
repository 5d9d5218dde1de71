import { type BlobRef, type ByteRange, VitrineError } from '@vitrine/protocol'
import { blobOptions, checkOptions } from '@vitrine/protocol/options'
import { checkedByteRange, isWholeNumber } from '@vitrine/protocol/primitives'
import type { Committer } from '../append/committer.ts'
import { refTo, toBlob } from '../append/large-fields.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { NewBlob, StoreConnection } from '../stores/contract.ts'

export interface BlobLimits {
  /** The largest size of one blob. */
  readonly maxBytes: number
  /** The largest total size of all blobs of the store. */
  readonly maxTotalBytes: number
}

export const defaultBlobLimits: BlobLimits = {
  maxBytes: 64 * 1024 * 1024,
  maxTotalBytes: 4 * 1024 * 1024 * 1024,
}

/** A blob that no event refers to is kept for this long. */
const graceMs = 10 * 60_000
const partBytes = 64 * 1024

export type BlobContent = Uint8Array | string | AsyncIterable<Uint8Array>

/** Bytes that are redacted and hashed but not stored yet. */
export interface PreparedBlob {
  readonly ref: BlobRef
  readonly blob: NewBlob
}

export interface StoredBlob {
  readonly bytes: number
  readonly mediaType: string | undefined
  /** The requested range, read from the store as it is consumed. */
  readonly stream: ReadableStream<Uint8Array>
}

/** Content-addressed bytes of a store, redacted like events, and freed after the last event that refers to them. */
export class Blobs {
  readonly #connection: StoreConnection
  readonly #committer: Committer
  readonly #redactor: Redactor
  readonly #limits: BlobLimits
  /** Hashes added to `#total` since the last sweep, which recounts it. */
  readonly #countedHashes = new Set<string>()
  #total: number

  constructor(
    connection: StoreConnection,
    committer: Committer,
    redactor: Redactor,
    limits: BlobLimits,
    total: number,
  ) {
    this.#connection = connection
    this.#committer = committer
    this.#redactor = redactor
    this.#limits = limits
    this.#total = total
  }

  /** Reserves space for one more blob, or returns false if it does not fit. The same content is counted once. */
  readonly reserveSpace = (bytes: number, hash?: string): boolean => {
    if (hash !== undefined && this.#countedHashes.has(hash)) return true
    if (bytes > this.#limits.maxBytes || this.#total + bytes > this.#limits.maxTotalBytes) return false
    this.#total += bytes
    if (hash !== undefined) this.#countedHashes.add(hash)
    return true
  }

  /** Prepares a blob to be committed together with the events that refer to it, and reserves its space. */
  prepare(content: Uint8Array): PreparedBlob {
    const { bytes, redacted } = this.#redactor.redactBytes(new Uint8Array(content))
    const blob = toBlob(bytes, null)
    if (!this.reserveSpace(bytes.byteLength, blob.hash)) throw this.#limitError(bytes.byteLength)
    return { blob, ref: { ...refTo(blob), ...(redacted && { redacted: true as const }) } }
  }

  async put(content: BlobContent, mediaType: string | undefined): Promise<BlobRef> {
    const raw = await collect(content, this.#limits.maxBytes)
    const { bytes, redacted } = this.#redactor.redactBytes(raw)
    const blob = toBlob(bytes, mediaType === undefined ? null : this.#redactor.redactText(mediaType))
    // Inside the lock, so that the same content put twice concurrently is counted once.
    await this.#committer.runExclusive(async () => {
      const known = await this.#connection.blob(blob.hash)
      if (!known && !this.reserveSpace(bytes.byteLength, blob.hash)) throw this.#limitError(bytes.byteLength)
      await this.#connection.putBlob(blob)
    })
    return { ...refTo(blob), ...(redacted && { redacted: true as const }) }
  }

  /** Bytes of another store that are already redacted: stored unchanged, because their name is their hash. */
  async prepareMirrored(hash: string, content: AsyncIterable<Uint8Array>): Promise<NewBlob> {
    const bytes = await collect(content, this.#limits.maxBytes)
    const blob = toBlob(bytes, null)
    if (blob.hash !== hash)
      throw new VitrineError('blob_mismatch', `Expected the bytes of ${hash}, got those of ${blob.hash}.`)
    if (!this.reserveSpace(bytes.byteLength, hash)) throw this.#limitError(bytes.byteLength)
    return blob
  }

  /** Stores a prepared blob without events. */
  async store(blob: NewBlob): Promise<void> {
    await this.#committer.runExclusive(() => this.#connection.putBlob(blob))
  }

  async has(hash: string): Promise<boolean> {
    return (await this.#connection.blob(hash)) !== undefined
  }

  #limitError(bytes: number): VitrineError {
    const { maxBytes, maxTotalBytes } = this.#limits
    if (bytes > maxBytes) return tooLargeError(maxBytes)
    return new VitrineError('blob_limit', `The blobs of this store would exceed ${maxTotalBytes} bytes.`, {
      details: { limit: maxTotalBytes },
    })
  }

  /** The bytes of a range, whose end may be beyond that of the blob. */
  async read(hash: string, range: ByteRange = {}): Promise<ReadableStream<Uint8Array>> {
    checkOptions('blob', blobOptions.bytes, range)
    if (typeof hash !== 'string')
      throw new VitrineError('argument_invalid', `hash: expected a string, got ${typeof hash}.`)
    const { from, to } = checkedByteRange(range)
    const bytes = (await this.#connection.blob(hash))?.bytes ?? 0
    const { stream } = await this.get(hash, {
      start: from,
      end: Math.max(from, Math.min(to ?? bytes, bytes)),
    })
    return stream
  }

  async get(hash: string, { start = 0, end }: { start?: number; end?: number } = {}): Promise<StoredBlob> {
    const info = await this.#connection.blob(hash)
    if (info === undefined)
      throw new VitrineError('blob_not_found', `There is no blob ${hash} in this store.`)
    const stop = end ?? info.bytes
    if (!isWholeNumber(start) || !isWholeNumber(stop, start, info.bytes)) {
      throw new VitrineError(
        'range_invalid',
        `Expected a range within 0 and ${info.bytes}, got ${start} to ${stop}.`,
        {
          details: { bytes: info.bytes },
        },
      )
    }
    return {
      bytes: info.bytes,
      mediaType: info.mediaType ?? undefined,
      stream: this.#stream(hash, start, stop),
    }
  }

  #stream(hash: string, start: number, end: number): ReadableStream<Uint8Array> {
    const connection = this.#connection
    let offset = start
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (offset >= end) {
            controller.close()
            return
          }
          const part = await connection.blobPart(hash, offset, Math.min(partBytes, end - offset))
          if (part.byteLength === 0) {
            throw new VitrineError('blob_not_found', `The blob ${hash} was freed while it was read.`)
          }
          offset += part.byteLength
          controller.enqueue(part)
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** Frees blobs that no event refers to any more. */
  async sweep(grace = graceMs): Promise<void> {
    while ((await this.#committer.runExclusive(() => this.#connection.freeBlobs(Date.now() - grace))) > 0) {
      await new Promise(setImmediate)
    }
    this.#countedHashes.clear()
    this.#total = await this.#connection.blobBytes()
  }
}

/** Copies the content, because the caller may reuse its buffers, as streams do. */
async function collect(content: BlobContent, maxBytes: number): Promise<Uint8Array> {
  if (typeof content === 'string') {
    if (content.length > maxBytes || Buffer.byteLength(content) > maxBytes) throw tooLargeError(maxBytes)
    return Buffer.from(content)
  }
  if (content instanceof Uint8Array) {
    if (content.byteLength > maxBytes) throw tooLargeError(maxBytes)
    return Uint8Array.from(content)
  }
  const parts: Uint8Array[] = []
  let total = 0
  for await (const part of content) {
    total += part.byteLength
    if (total > maxBytes) throw tooLargeError(maxBytes)
    parts.push(Uint8Array.from(part))
  }
  return Buffer.concat(parts)
}

function tooLargeError(maxBytes: number): VitrineError {
  return new VitrineError('blob_too_large', `A blob may have at most ${maxBytes} bytes.`, {
    details: { limit: maxBytes },
  })
}
