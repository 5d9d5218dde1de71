import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'

const partBytes = 512 * 1024

/** Writes a stream to a new file; the next part is made while one is written. How many bytes. */
export async function toFile(stream: ReadableStream<Uint8Array>, path: string): Promise<number> {
  await using file = await open(path, 'w')
  let bytes = 0
  let writing: Promise<unknown> = Promise.resolve()
  for await (const part of stream) {
    await writing
    writing = file.write(part)
    bytes += part.byteLength
  }
  await writing
  return bytes
}

/**
 * A file as a stream of large parts that are read into the same memory in turn: for a reader that is done with a part
 * when it asks for the next but one. A new part each time would cost more than what is measured.
 */
export async function fromFile(path: string): Promise<ReadableStream<Uint8Array>> {
  const file = await open(path)
  const parts = Array.from({ length: 3 }, () => new Uint8Array(partBytes))
  let turn = 0
  return new ReadableStream(
    {
      async pull(controller) {
        const part = parts[turn]!
        turn = (turn + 1) % parts.length
        const { bytesRead } = await file.read(part)
        if (bytesRead > 0) return controller.enqueue(part.subarray(0, bytesRead))
        await file.close()
        controller.close()
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  )
}

/** The way that most would take. */
export function fromReadStream(path: string): ReadableStream<Uint8Array> {
  // The same class, by another name in Node's types.
  return Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>
}
