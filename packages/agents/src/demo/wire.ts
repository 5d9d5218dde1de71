import { Readable, type Writable } from 'node:stream'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk/unstable'

/** The two pipes. What misbehaves writes past the SDK, but in the same order and with the same backpressure. */
export interface Wire {
  readonly stream: Stream
  /** Resolves when the pipe has taken it. */
  write(bytes: string | Uint8Array): Promise<void>
}

export function openWire(input: Readable, output: Writable): Wire {
  const write = (bytes: string | Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      output.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
  const writable = new WritableStream<Uint8Array>({ write })
  // Node types what a stream yields as unknown; without an encoding, stdin yields bytes.
  const readable = Readable.toWeb(input) as ReadableStream<Uint8Array>
  return { stream: ndJsonStream(writable, readable), write }
}
