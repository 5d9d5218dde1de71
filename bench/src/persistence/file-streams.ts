import { createReadStream } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'

const partBytes = 512 * 1024

/** Writes a stream to a new file with two buffers: one is filled while the other is written. */
export async function toFile(stream: ReadableStream<Uint8Array>, path: string): Promise<number> {
  await using file = await open(path, 'w')
  const reader = stream.getReader({ mode: 'byob' })
  const spare = [new ArrayBuffer(partBytes), new ArrayBuffer(partBytes)]
  let bytes = 0
  let writing: Promise<unknown> = Promise.resolve()
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(spare.pop()!))
    await writing
    if (done) return bytes
    bytes += value.byteLength
    writing = file.write(value).then(() => spare.push(value.buffer))
  }
}

/** Writes a stream with `fs.writeFile`, as most users would. */
export async function toFilePlainly(stream: ReadableStream<Uint8Array>, path: string): Promise<void> {
  await writeFile(path, stream)
}

/**
 * Reads a file as a stream of large chunks into three reused buffers, for a consumer that is done with a chunk when it
 * requests the one after the next. A new buffer per chunk would cost more than the measured call.
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

/** Reads a file with `createReadStream`, as most users would. */
export function fromReadStream(path: string): ReadableStream<Uint8Array> {
  // Node's types have another name for the same class.
  return Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>
}
