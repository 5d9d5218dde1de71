import { open } from 'node:fs/promises'

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

/** A file as a stream of large parts. */
export async function fromFile(path: string): Promise<ReadableStream<Uint8Array>> {
  const file = await open(path)
  return new ReadableStream(
    {
      async pull(controller) {
        const { bytesRead, buffer } = await file.read(new Uint8Array(partBytes))
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead))
        await file.close()
        controller.close()
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  )
}
