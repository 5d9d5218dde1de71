import { createReadStream } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'

const partBytes = 512 * 1024

/** Writes a stream to a new file, through two buffers in turn: one is filled while the other is written. */
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

/** The same as most would write it. */
export async function toFilePlainly(stream: ReadableStream<Uint8Array>, path: string): Promise<void> {
  await writeFile(path, stream)
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
