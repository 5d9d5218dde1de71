import type { Transform } from 'node:stream'
import type { ByteSource } from './byte-source.ts'

/** A zlib stream. */
export type ZlibStream = Transform & { readonly bytesWritten: number }

/**
 * Pipes chunks through a zlib stream, each one after the previous was consumed completely. Returns the bytes after the
 * end of the compressed data, if any.
 */
export async function* pipeThroughZlib(
  source: ByteSource,
  zlib: ZlibStream,
): AsyncGenerator<Uint8Array, Uint8Array | undefined> {
  const feeding = feed(source, zlib)
  feeding.catch((error) => zlib.destroy(error))
  let whole = false
  try {
    for await (const chunk of zlib) yield chunk
    const rest = await feeding
    whole = true
    return rest
  } finally {
    zlib.destroy()
    if (!whole) await source.cancel()
    await feeding.catch(() => undefined)
  }
}

async function feed(source: ByteSource, zlib: ZlibStream): Promise<Uint8Array | undefined> {
  let rejectWrite: ((error: Error) => void) | undefined
  // A destroyed stream may never call the callback of a pending write.
  zlib.once('close', () => rejectWrite?.(new Error('The zlib stream was closed.')))
  for (;;) {
    const chunk = await source.next()
    if (zlib.destroyed) return undefined
    if (chunk === undefined) {
      zlib.end()
      return undefined
    }
    const before = zlib.bytesWritten
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    rejectWrite = reject
    zlib.write(chunk, (error) => (error ? reject(error) : resolve()))
    await promise
    const taken = zlib.bytesWritten - before
    if (taken < chunk.length) return chunk.subarray(taken)
  }
}
