import { read } from 'node:fs'
import { promisify } from 'node:util'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import type { ByteSource } from '../byte-source.ts'
import { pipeThroughZlib, type ZlibStream } from '../pipe-through-zlib.ts'
import { invalid } from '../refusal.ts'
import type { ZipEntry } from './directory.ts'
import { deflated } from './entry-member.ts'
import type { FileWindow } from './window.ts'

const chunkBytes = 256 * 1024
/** Entries whose stored and unpacked sizes are at most this are read synchronously. */
const smallBytes = 128 * 1024
const readPart = promisify(read)

export function isSmall({ size, compressed }: ZipEntry): boolean {
  return size <= smallBytes && compressed <= smallBytes
}

/** Reads the whole content of a small entry and checks its size and checksum. */
export function smallContent(window: FileWindow, at: number, entry: ZipEntry): Buffer {
  const bytes = window.bytes(at, entry.compressed)
  const content = entry.method === deflated ? inflated(bytes, entry.size) : bytes
  check(entry, content.length, crc32(content))
  return content
}

function inflated(bytes: Buffer, size: number): Buffer {
  const room = Math.max(64, size + 1)
  try {
    // Node's types do not describe the result with `info: true`.
    const { buffer, engine } = inflateRawSync(bytes, {
      info: true,
      chunkSize: room,
      maxOutputLength: room,
    }) as unknown as { buffer: Buffer; engine: ZlibStream }
    if (engine.bytesWritten !== bytes.length) throw invalid('has an entry with extra bytes after its content')
    return buffer
  } catch (error) {
    throw toDamageError(error)
  }
}

/** Yields the content of an entry in chunks, never more than its declared size, and checks the checksum at the end. */
export async function* content(fd: number, at: number, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  const source = pullRange(fd, at, entry.compressed)
  let size = 0
  let crc = 0
  try {
    for await (const chunk of entry.method === deflated ? inflating(source) : chunksOf(source)) {
      size += chunk.length
      if (size > entry.size) throw invalid('has an entry that is larger than its declared size')
      crc = crc32(chunk, crc)
      yield chunk
    }
  } catch (error) {
    throw toDamageError(error)
  }
  check(entry, size, crc)
}

async function* inflating(source: ByteSource): AsyncGenerator<Uint8Array> {
  const rest = yield* pipeThroughZlib(source, createInflateRaw({ chunkSize: 64 * 1024 }))
  if (rest !== undefined || (await source.next()) !== undefined)
    throw invalid('has an entry with extra bytes after its content')
}

async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) yield chunk
}

function pullRange(fd: number, from: number, length: number): ByteSource {
  const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes, length))
  let at = from
  let left = length
  return {
    async next() {
      if (left === 0) return undefined
      const { bytesRead } = await readPart(fd, buffer, 0, Math.min(buffer.length, left), at)
      if (bytesRead === 0) throw invalid('is truncated')
      at += bytesRead
      left -= bytesRead
      return buffer.subarray(0, bytesRead)
    },
    async cancel() {
      left = 0
    },
  }
}

function check(entry: ZipEntry, size: number, crc: number): void {
  if (size > entry.size) throw invalid('has an entry that is larger than its declared size')
  if (size < entry.size) throw invalid('has an entry that is smaller than its declared size')
  if (crc !== entry.crc) throw invalid('has an entry whose checksum is wrong')
}

function toDamageError(error: unknown): unknown {
  const code = systemErrorCode(error) ?? ''
  if (code === 'ERR_BUFFER_TOO_LARGE')
    return invalid('has an entry that is larger than its declared size', error)
  return code.startsWith('Z_') ? invalid('has an entry that is damaged', error) : error
}
