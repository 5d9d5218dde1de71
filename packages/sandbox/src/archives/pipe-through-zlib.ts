import type { Transform } from 'node:stream'
import type { ByteSource } from './byte-source.ts'

/** A stream of zlib's. */
export type Engine = Transform & { readonly bytesWritten: number }

/**
 * Sends chunks through a stream of zlib's, each one only when the one before was taken in whole. Returns what an
 * engine that had reached its end did not take.
 */
export async function* pipeThroughZlib(
  source: ByteSource,
  engine: Engine,
): AsyncGenerator<Uint8Array, Uint8Array | undefined> {
  const feeding = feed(source, engine)
  feeding.catch((error) => engine.destroy(error))
  let whole = false
  try {
    for await (const chunk of engine) yield chunk
    const rest = await feeding
    whole = true
    return rest
  } finally {
    engine.destroy()
    if (!whole) await source.cancel()
    await feeding.catch(() => undefined)
  }
}

async function feed(source: ByteSource, engine: Engine): Promise<Uint8Array | undefined> {
  let giveUp: ((error: Error) => void) | undefined
  // A stream that is destroyed may keep the callback of a write to itself.
  engine.once('close', () => giveUp?.(new Error('It was closed.')))
  for (;;) {
    const chunk = await source.next()
    if (engine.destroyed) return undefined
    if (chunk === undefined) {
      engine.end()
      return undefined
    }
    const before = engine.bytesWritten
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    giveUp = reject
    engine.write(chunk, (error) => (error ? reject(error) : resolve()))
    await promise
    const taken = engine.bytesWritten - before
    if (taken < chunk.length) return chunk.subarray(taken)
  }
}
