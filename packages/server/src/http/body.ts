/**
 * The body of a response. A string and bytes are whole; a body in parts is read as it is sent, and may break half-way. Its
 * source may reuse the memory of a part once the next part is requested.
 */
export type ResponseBody = string | Uint8Array<ArrayBuffer> | BodyInParts | null

/** A body that is read as it is sent. */
export interface BodyInParts extends AsyncIterable<Uint8Array> {
  /** Whether the next part costs no read: its events are in memory, or not committed yet. */
  isLive?(): boolean
}

export interface BodyParts extends AsyncIterableIterator<Uint8Array, undefined> {
  /** Releases what the parts come from. */
  return(): Promise<IteratorReturnResult<undefined>>
}

/** A larger body in one piece is sent in parts: the buffers of a connection do not hold it. */
const smallBytes = 64 * 1024
const partBytes = 256 * 1024

/** The bytes of a body in one piece that is to be sent in parts; undefined if it is small. */
export function largeBytes(body: string | Uint8Array): Uint8Array | undefined {
  if (Buffer.byteLength(body) <= smallBytes) return undefined
  return typeof body === 'string' ? Buffer.from(body) : body
}

/** The parts of a body in one piece. `release` is called when all are sent, or when the rest is not wanted. */
export function partsOf(bytes: Uint8Array, release: () => void = () => undefined): BodyParts {
  let at = 0
  const end = (): IteratorReturnResult<undefined> => {
    at = bytes.byteLength
    release()
    return { done: true, value: undefined }
  }
  return {
    async next() {
      if (at >= bytes.byteLength) return end()
      const value = bytes.subarray(at, at + partBytes)
      at += partBytes
      return { done: false, value }
    },
    async return() {
      return end()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/**
 * Parts whose `return` closes their source, also while a part is awaited, and before the first one: a generator that
 * never ran would not reach its `finally`.
 */
export function closingParts(parts: AsyncIterator<Uint8Array, unknown>, close: () => void): BodyParts {
  return {
    async next() {
      const next = await parts.next()
      return next.done ? { done: true, value: undefined } : next
    },
    async return() {
      close()
      await parts.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Calls `onStall` when the consumer of a body does not request the next part, or the first, within `stallMs`. */
export function limitStalls(
  body: AsyncIterable<Uint8Array>,
  stallMs: number | undefined,
  onStall: () => void,
): BodyParts {
  const parts = body[Symbol.asyncIterator]()
  // Also before the first part: a body that is never read must not be held for ever.
  let timer = stallMs === undefined ? undefined : setTimeout(onStall, stallMs)
  let isOver = false
  return {
    async next() {
      clearTimeout(timer)
      const { done, value } = await parts.next()
      // A part that was awaited when the consumer left: no timer may wait for it.
      if (done || isOver) return { done: true, value: undefined }
      if (stallMs !== undefined) timer = setTimeout(onStall, stallMs)
      return { done: false, value }
    },
    async return() {
      isOver = true
      clearTimeout(timer)
      await parts.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Releases the source of a body that is not sent, or not to its end. */
export function discard(body: ResponseBody): void {
  if (!isInParts(body)) return
  const parts = body[Symbol.asyncIterator]()
  parts.return?.().catch(() => undefined)
}

export function isInParts(body: ResponseBody): body is BodyInParts {
  return body !== null && typeof body === 'object' && Symbol.asyncIterator in body
}
