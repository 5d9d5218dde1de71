const bufferBytes = 256 * 1024

export interface BufferedReader {
  /** Resolves to the next bytes, or to undefined at the end. They are valid until the next call. */
  read(): Promise<Uint8Array | undefined>
  cancel(reason?: unknown): Promise<void>
}

/**
 * Reads a whole byte stream through one buffer, because a new allocation per chunk would accumulate until the next
 * garbage collection. A stream that does not support BYOB readers yields its own chunks.
 */
export function bufferedReader(stream: ReadableStream<Uint8Array>): BufferedReader {
  const byob = byobReader(stream)
  if (byob === undefined) {
    const reader = stream.getReader()
    return {
      async read() {
        const { done, value } = await reader.read()
        if (!done && value === undefined) throw new TypeError('expected a stream of bytes, got undefined')
        return value
      },
      cancel: (reason) => reader.cancel(reason),
    }
  }
  let buffer: ArrayBuffer | undefined
  return {
    async read() {
      const lent = buffer ?? Buffer.allocUnsafeSlow(bufferBytes).buffer
      // The read detaches the buffer and returns it with the chunk, at the end of the stream too.
      buffer = undefined
      const { done, value } = await byob.read(new Uint8Array(lent))
      buffer = value?.buffer
      return done ? undefined : value
    },
    cancel: (reason) => byob.cancel(reason),
  }
}

function byobReader(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return stream.getReader({ mode: 'byob' })
  } catch {
    return undefined
  }
}
