import { invalid } from '../refusal.ts'
import { blockBytes, checksumOf } from './blocks.ts'
import { readNumber } from './numbers.ts'

/** The header fields that are used. Owners are not restored. */
export interface TarHeader {
  readonly name: Buffer
  readonly mode: number
  readonly size: number
  readonly mtime: number
  /** One character. */
  readonly type: string
  readonly target: Buffer
}

const zeros = Buffer.alloc(blockBytes)

export function isZero(block: Buffer): boolean {
  return block[0] === 0 && block.equals(zeros)
}

/** Parses a header block, which must not be a zero block. */
export function readHeader(block: Buffer): TarHeader {
  checkSum(block)
  const name = textAt(block, 0, 100)
  const posix = block.toString('latin1', 257, 263) === 'ustar\0'
  const prefix = posix ? textAt(block, 345, 155) : zeros.subarray(0, 0)
  const size = readNumber(block, 124, 12)
  if (size < 0) throw invalid('has a member of a negative size')
  return {
    name: prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name]),
    mode: readNumber(block, 100, 8) & 0o7777,
    size,
    mtime: readNumber(block, 136, 12),
    type: block[156] === 0 ? '0' : String.fromCharCode(block[156]!),
    target: textAt(block, 157, 100),
  }
}

function checkSum(block: Buffer): void {
  const stored = readNumber(block, 148, 8)
  if (stored !== checksumOf(block, 0) && stored !== signedChecksum(block))
    throw invalid('is damaged or not a tar: the checksum of a header is wrong')
}

/** Some old programs computed the checksum with signed bytes. */
function signedChecksum(block: Buffer): number {
  let sum = checksumOf(block, 0)
  for (let index = 0; index < blockBytes; index += 1)
    if ((index < 148 || index >= 156) && block[index]! > 127) sum -= 256
  return sum
}

/** Copies a text field, because the block's memory is reused. */
function textAt(block: Buffer, at: number, length: number): Buffer {
  const end = block.indexOf(0, at)
  return Buffer.from(block.subarray(at, end < 0 || end > at + length ? at + length : end))
}
