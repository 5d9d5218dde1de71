import { cancelled } from './pace.ts'

/** Where a stream has its bytes from. */
export interface Source {
  /** Nothing at the end. */
  next(): Promise<Uint8Array | undefined>
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

/** A stream that reads as it is consumed, and closes its source whatever happens to it. */
export function closingStream(source: Source, { signal, ended }: ClosingOptions): ReadableStream<Uint8Array> {
  let bytes = 0
  let over = false
  let reading: Promise<unknown> = Promise.resolve()
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
  return new ReadableStream<Uint8Array>(
    {
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
        const next = source.next()
        reading = next
        let part: Uint8Array | undefined
        try {
          part = await next
        } catch (error) {
          if (over) return
          controller.error(error)
          await finish(true, error)
          return
        }
        if (over) return
        if (part === undefined) {
          controller.close()
          await finish(false)
        } else {
          bytes += part.byteLength
          controller.enqueue(part)
        }
      },
      cancel: () => finish(true),
    },
    { highWaterMark: 0 },
  )
}
