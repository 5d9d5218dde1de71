const bufferBytes = 256 * 1024

export interface BufferedReader {
  /** The next bytes, nothing at the end. They are good until the next ones are asked for. */
  read(): Promise<Uint8Array | undefined>
  cancel(reason?: unknown): Promise<void>
}

/**
 * Reads a stream of bytes into one buffer from beginning to end: new memory for every part would pile up until it is
 * collected. A stream that takes no buffers gives its own parts.
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
      // The stream takes the buffer over, and gives it back with the part, at the end too.
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
