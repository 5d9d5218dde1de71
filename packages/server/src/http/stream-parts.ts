import { type BodyParts, closingParts } from './body.ts'

const bufferBytes = 256 * 1024

/**
 * The parts of a stream, read one ahead. A byte stream is read into the same two buffers from beginning to end: new
 * buffers for every part would pile up until the garbage collector runs.
 */
export function streamParts(stream: ReadableStream<Uint8Array>): BodyParts {
  const { read, cancel } = byteReader(stream) ?? plainReader(stream)
  const close = () => void cancel().catch(() => undefined)
  return closingParts(oneAhead(read), close)
}

type Read = () => Promise<Uint8Array | undefined>

interface PartReader {
  /** The next part, undefined at the end. A call may overwrite the part before the last one. */
  readonly read: Read
  cancel(): Promise<void>
}

/** Reads the next part while the current one is being sent. */
function oneAhead(read: Read): AsyncIterator<Uint8Array, undefined> {
  let ahead: Promise<Uint8Array | undefined> | undefined
  return {
    async next() {
      const part = await (ahead ?? read())
      if (part === undefined) return { done: true, value: undefined }
      ahead = read()
      ahead.catch(() => undefined)
      return { done: false, value: part }
    },
  }
}

function plainReader(stream: ReadableStream<Uint8Array>): PartReader {
  const reader = stream.getReader()
  return {
    read: async () => (await reader.read()).value,
    cancel: () => reader.cancel(),
  }
}

/** Returns undefined for a stream that is not a byte stream. */
function byteReader(stream: ReadableStream<Uint8Array>): PartReader | undefined {
  let reader: ReadableStreamBYOBReader
  try {
    reader = stream.getReader({ mode: 'byob' })
  } catch {
    return undefined
  }
  const buffers: ArrayBuffer[] = []
  return {
    async read() {
      const buffer = buffers.length < 2 ? Buffer.allocUnsafeSlow(bufferBytes).buffer : buffers.shift()!
      const { done, value } = await reader.read(new Uint8Array(buffer))
      if (done || value === undefined) return undefined
      buffers.push(value.buffer)
      return value
    },
    cancel: () => reader.cancel(),
  }
}
