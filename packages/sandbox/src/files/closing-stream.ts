import { cancelled } from './time-slice.ts'

/** Where a stream has its bytes from. */
export interface Source {
  /** Nothing at the end. */
  next(): Promise<Uint8Array | undefined>
  /** Reads straight into the buffer of a consumer that brings one: how many bytes, 0 at the end. */
  into?(buffer: Uint8Array): Promise<number>
  /** Its parts are good only until the next one: they are copied. */
  readonly lent?: boolean
  /** Called once, and never while a part is being read. */
  close(): void | Promise<void>
}

/** How a stream ended. */
export interface StreamEnd {
  readonly bytes: number
  /** It was left before its end. */
  readonly left: boolean
}

export interface ClosingOptions {
  readonly signal?: AbortSignal | undefined
  /** Called once, however it ends: read to the end, left, cancelled or broken. */
  ended(end: StreamEnd, error?: unknown): void
}

/**
 * A stream that reads as it is consumed, and closes its source whatever happens to it. Who brings a buffer of its own
 * (`getReader({ mode: 'byob' })`) is served without any other.
 */
export function closingStream(source: Source, { signal, ended }: ClosingOptions): ReadableStream<Uint8Array> {
  let bytes = 0
  let over = false
  let reading: Promise<unknown> = Promise.resolve()
  let rest: Uint8Array | undefined
  let abort: () => void = () => undefined
  const finish = async (left: boolean, error?: unknown) => {
    if (over) return
    over = true
    signal?.removeEventListener('abort', abort)
    await reading.catch(() => undefined)
    try {
      await source.close()
      ended({ bytes, left }, error)
    } catch (failure) {
      ended({ bytes, left: true }, error ?? failure)
    }
  }
  const give = (controller: ReadableByteStreamController, part: Uint8Array) => {
    bytes += part.byteLength
    const view = controller.byobRequest?.view
    if (view == null) {
      rest = undefined
      controller.enqueue(owned(part, source.lent === true))
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
        if (over) return
        if (rest !== undefined) {
          give(controller, rest)
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
          if (over) return
          controller.error(error)
          await finish(true, error)
          return
        }
        if (over) return
        if (part === undefined || part === 0) await end(controller)
        else if (typeof part === 'number') {
          bytes += part
          controller.byobRequest!.respond(part)
        } else give(controller, part)
      },
      cancel: () => finish(true),
    },
    { highWaterMark: 0 },
  )
}

/** A part that is given away with its memory. */
function owned(part: Uint8Array, lent: boolean): Uint8Array<ArrayBuffer> {
  if (!lent && part.buffer instanceof ArrayBuffer && part.byteLength === part.buffer.byteLength)
    return new Uint8Array(part.buffer)
  // Not of a pool, which cannot be given away, and not filled with zeros first.
  const copy = Buffer.allocUnsafeSlow(part.byteLength)
  copy.set(part)
  return copy
}
