import { Readable, type Writable } from 'node:stream'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk/unstable'

/** stdin and stdout of the agent. Commands that violate the protocol bypass the SDK with `write`, in the same order. */
export interface DemoConnection {
  readonly stream: Stream
  /** Resolves when the pipe has accepted the bytes. */
  write(bytes: string | Uint8Array): Promise<void>
}

export function openConnection(input: Readable, output: Writable): DemoConnection {
  const write = (bytes: string | Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      output.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
  const writable = new WritableStream<Uint8Array>({ write })
  // Node types the chunks of a stream as unknown; without an encoding, stdin yields bytes.
  const readable = Readable.toWeb(input) as ReadableStream<Uint8Array>
  return { stream: ndJsonStream(writable, readable), write }
}
