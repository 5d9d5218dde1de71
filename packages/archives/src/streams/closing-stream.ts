import { cancelled } from '../time-slice.ts'

/** The source of a stream's bytes. */
export interface StreamSource {
  /** Resolves to the next chunk, or to undefined at the end. */
  next(): Promise<Uint8Array | undefined>
  /** Reads directly into a BYOB consumer's buffer. Resolves to the number of bytes, 0 at the end. */
  into?(buffer: Uint8Array): Promise<number>
  /** Chunks are valid only until the next one, so they have to be copied. */
  readonly lent?: boolean
  /** Called once, and never during a read. */
  close(): void | Promise<void>
}

/** How a stream ended. */
export interface StreamEnd {
  readonly bytes: number
  /** The consumer cancelled, or the stream failed, before its end. */
  readonly left: boolean
}

export interface ClosingOptions {
  readonly signal?: AbortSignal | undefined
  /** Called once, whether the stream was read to its end, cancelled by its consumer, aborted or failed. */
  onEnd(end: StreamEnd, error?: unknown): void
}

/**
 * A stream that reads on demand and always closes its source. A consumer with its own buffer
 * (`getReader({ mode: 'byob' })`) causes no further allocation.
 */
export function closingStream(
  source: StreamSource,
  { signal, onEnd }: ClosingOptions,
): ReadableStream<Uint8Array> {
  let bytes = 0
  let isOver = false
  let reading: Promise<unknown> = Promise.resolve()
  let rest: Uint8Array | undefined
  let abort: () => void = () => undefined
  const finish = async (left: boolean, error?: unknown) => {
    if (isOver) return
    isOver = true
    signal?.removeEventListener('abort', abort)
    await reading.catch(() => undefined)
    try {
      await source.close()
      onEnd({ bytes, left }, error)
    } catch (failure) {
      onEnd({ bytes, left: true }, error ?? failure)
    }
  }
  const deliver = (controller: ReadableByteStreamController, part: Uint8Array) => {
    bytes += part.byteLength
    const view = controller.byobRequest?.view
    if (view == null) {
      rest = undefined
      controller.enqueue(transferable(part, source.lent === true))
      return
    }
    const taken = part.subarray(0, view.byteLength)
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(taken)
    bytes -= part.byteLength - taken.byteLength
    rest = taken.byteLength < part.byteLength ? part.subarray(taken.byteLength) : undefined
    controller.byobRequest!.respond(taken.byteLength)
  }
  const end = async (controller: ReadableByteStreamController) => {
    controller.close()
    controller.byobRequest?.respond(0)
    await finish(false)
  }
  return new ReadableStream(
    {
      type: 'bytes',
      start(controller) {
        abort = () => {
          const error = cancelled(signal!)
          controller.error(error)
          void finish(true, error)
        }
        if (signal?.aborted) abort()
        else signal?.addEventListener('abort', abort, { once: true })
      },
      async pull(controller) {
        if (isOver) return
        if (rest !== undefined) {
          deliver(controller, rest)
          return
        }
        const view = controller.byobRequest?.view
        const buffer = view && new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
        const next = buffer && source.into ? source.into(buffer) : source.next()
        reading = next
        let part: Uint8Array | number | undefined
        try {
          part = await next
        } catch (error) {
          if (isOver) return
          controller.error(error)
          await finish(true, error)
          return
        }
        if (isOver) return
        if (part === undefined || part === 0) await end(controller)
        else if (typeof part === 'number') {
          bytes += part
          controller.byobRequest!.respond(part)
        } else deliver(controller, part)
      },
      cancel: () => finish(true),
    },
    { highWaterMark: 0 },
  )
}

/** Returns the chunk in an ArrayBuffer that can be transferred to the stream; copies it if its memory is shared. */
function transferable(part: Uint8Array, lent: boolean): Uint8Array<ArrayBuffer> {
  if (!lent && part.buffer instanceof ArrayBuffer && part.byteLength === part.buffer.byteLength)
    return new Uint8Array(part.buffer)
  // Not from Node's buffer pool, which cannot be transferred, and without zero-filling.
  const copy = Buffer.allocUnsafeSlow(part.byteLength)
  copy.set(part)
  return copy
}
