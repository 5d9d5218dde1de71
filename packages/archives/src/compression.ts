// Not by name: Node 20 has not all of these functions, and would say that instead of the version that Vitrine needs.
import * as zlib from 'node:zlib'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import type { ByteSource } from './byte-source.ts'
import type { ArchiveTally } from './limits.ts'
import { pipeThroughZlib } from './pipe-through-zlib.ts'
import { invalid } from './refusal.ts'
import { schemeOfBytes, type TarScheme } from './scheme.ts'

const chunkSize = 64 * 1024

/** Decompresses a tar and counts the bytes before and after against the limits. */
export async function* expand(
  source: ByteSource,
  scheme: TarScheme | 'sniff',
  tally: ArchiveTally,
): AsyncGenerator<Uint8Array> {
  const input = counted(source, tally)
  const { scheme: detected, from } = scheme === 'sniff' ? await detectScheme(input) : { scheme, from: input }
  try {
    for await (const chunk of decompressed(from, detected)) {
      tally.expanded(chunk.length)
      yield chunk
    }
  } catch (error) {
    throw isDamage(error) ? invalid(`is damaged or not a ${detected}`, error) : error
  }
}

export function compress(source: ByteSource, scheme: Exclude<TarScheme, 'tar'>): AsyncGenerator<Uint8Array> {
  return pipeThroughZlib(
    source,
    scheme === 'tar.gz' ? zlib.createGzip({ chunkSize }) : zlib.createZstdCompress({ chunkSize }),
  )
}

function counted(source: ByteSource, tally: ArchiveTally): ByteSource {
  return {
    async next() {
      const chunk = await source.next()
      if (chunk !== undefined) tally.input(chunk.length)
      return chunk
    },
    cancel: () => source.cancel(),
  }
}

/** Detects the compression by the first four bytes, which may arrive in several chunks. */
async function detectScheme(
  source: ByteSource,
): Promise<{ readonly scheme: TarScheme; readonly from: ByteSource }> {
  let start: Buffer = Buffer.alloc(0)
  while (start.length < 4) {
    const chunk = await source.next()
    if (chunk === undefined) break
    start = Buffer.concat([start, chunk])
  }
  return { scheme: schemeOfBytes(start), from: startingWith(start, source) }
}

async function* decompressed(source: ByteSource, scheme: TarScheme): AsyncGenerator<Uint8Array> {
  if (scheme === 'tar.gz') {
    // Bytes after the last gzip member are padding and are ignored.
    yield* pipeThroughZlib(source, zlib.createGunzip({ chunkSize }))
    return
  }
  if (scheme === 'tar') {
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) yield chunk
    return
  }
  let rest: Uint8Array | undefined
  let from = source
  do {
    rest = yield* pipeThroughZlib(from, zlib.createZstdDecompress({ chunkSize }))
    // Node's stream ends after the first zstd frame, so the next frame needs a new one.
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
  return /^(Z|ZSTD|ERR_ZSTD|ERR_ZLIB)_/.test(systemErrorCode(error) ?? '')
}
