import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { errnoOf } from '../files/handle.ts'
import type { ByteSource } from './byte-source.ts'
import type { Tally } from './limits.ts'
import { pipeThroughZlib } from './pipe-through-zlib.ts'
import { invalid } from './refusal.ts'
import { schemeOfBytes, type TarScheme } from './scheme.ts'

const chunkSize = 64 * 1024

/** The tar in a stream, and everything that goes in and comes out counted. */
export async function* expand(
  source: ByteSource,
  scheme: TarScheme | 'sniff',
  tally: Tally,
): AsyncGenerator<Uint8Array> {
  const input = counted(source, tally)
  const { is, from } = scheme === 'sniff' ? await sniffed(input) : { is: scheme, from: input }
  try {
    for await (const chunk of decompressed(from, is)) {
      tally.expanded(chunk.length)
      yield chunk
    }
  } catch (error) {
    throw isDamage(error) ? invalid(`is damaged or no ${is}`, error) : error
  }
}

export function compress(source: ByteSource, scheme: Exclude<TarScheme, 'tar'>): AsyncGenerator<Uint8Array> {
  return pipeThroughZlib(
    source,
    scheme === 'tar.gz' ? createGzip({ chunkSize }) : createZstdCompress({ chunkSize }),
  )
}

function counted(source: ByteSource, tally: Tally): ByteSource {
  return {
    async next() {
      const chunk = await source.next()
      if (chunk !== undefined) tally.input(chunk.length)
      return chunk
    },
    cancel: () => source.cancel(),
  }
}

/** Its first bytes may come one by one. */
async function sniffed(source: ByteSource): Promise<{ readonly is: TarScheme; readonly from: ByteSource }> {
  let start: Buffer = Buffer.alloc(0)
  while (start.length < 4) {
    const chunk = await source.next()
    if (chunk === undefined) break
    start = Buffer.concat([start, chunk])
  }
  return { is: schemeOfBytes(start), from: startingWith(start, source) }
}

async function* decompressed(source: ByteSource, scheme: TarScheme): AsyncGenerator<Uint8Array> {
  if (scheme === 'tar.gz') {
    // Bytes after the last gzip member are padding.
    yield* pipeThroughZlib(source, createGunzip({ chunkSize }))
    return
  }
  if (scheme === 'tar') {
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) yield chunk
    return
  }
  let rest: Uint8Array | undefined
  let from = source
  do {
    rest = yield* pipeThroughZlib(from, createZstdDecompress({ chunkSize }))
    // Node's stream ends with the first frame.
    if (rest !== undefined) from = startingWith(rest, source)
  } while (rest !== undefined)
}

function startingWith(start: Uint8Array, source: ByteSource): ByteSource {
  let first: Uint8Array | undefined = start
  return {
    async next() {
      const chunk = first ?? (await source.next())
      first = undefined
      return chunk
    },
    cancel: () => source.cancel(),
  }
}

function isDamage(error: unknown): boolean {
  return /^(Z|ZSTD|ERR_ZSTD|ERR_ZLIB)_/.test(errnoOf(error) ?? '')
}
