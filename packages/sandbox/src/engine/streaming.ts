import type { Journal } from '@vitrine/journal'

export interface StreamEnd {
  readonly bytes: number
  /** Left before its end. */
  readonly left?: boolean
}

/**
 * An operation that lasts as long as the stream it gives: its end is the stream's end, however that comes. `open` gets
 * the function to call then.
 */
export function operateStream(
  journal: Journal,
  op: string,
  data: Readonly<Record<string, unknown>>,
  open: (
    ended: (end: StreamEnd, error?: unknown) => void,
  ) => ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>,
  finish: (end: StreamEnd) => Readonly<Record<string, unknown>> = () => ({}),
): Promise<ReadableStream<Uint8Array>> {
  const handed = Promise.withResolvers<ReadableStream<Uint8Array>>()
  journal
    .operate(
      op,
      data,
      async () => {
        const over = Promise.withResolvers<StreamEnd>()
        const stream = await open((end, error) =>
          error === undefined ? over.resolve(end) : over.reject(error),
        )
        handed.resolve(stream)
        return over.promise
      },
      {
        finish: (end) => ({
          bytes: end.bytes,
          ...(end.left && { outcome: 'cancelled' as const }),
          ...finish(end),
        }),
      },
    )
    // Whoever holds the stream has met the error there.
    .catch(handed.reject)
  return handed.promise
}
