import type { ArchiveTally } from '../limits.ts'
import { invalid } from '../refusal.ts'
import type { FileWindow } from './window.ts'

/** An entry of the central directory. */
export interface ZipEntry {
  /** The bytes of the name, decoded as Latin-1. */
  readonly rawName: string
  readonly madeByUnix: boolean
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly compressed: number
  readonly size: number
  /** The position of the entry's local header. */
  readonly offset: number
  /** The Unix mode, or 0. */
  readonly mode: number
  readonly isDosDirectory: boolean
  readonly mtime: number
}

export interface ZipDirectory {
  readonly entries: readonly ZipEntry[]
  /** The position of the central directory, which is the end of the content. */
  readonly offset: number
}

const max16 = 0xffff
const max32 = 0xffffffff
const endBytes = 22
const locatorBytes = 20
const entryBytes = 46
const unix = 3
const macos = 19

interface DirectoryLocation {
  readonly offset: number
  readonly size: number
  readonly count: number
}

/** Reads the central directory. All declared sizes are counted first, so that the limits apply before unpacking. */
export function* readDirectory(
  window: FileWindow,
  fileSize: number,
  tally: ArchiveTally,
): Generator<undefined, ZipDirectory> {
  const { offset, size, count } = findDirectory(window, fileSize)
  const entries: ZipEntry[] = []
  let at = offset
  while (entries.length < count) {
    if (at + entryBytes > offset + size) throw invalid('has a central directory that is too short')
    const { entry, length } = readEntry(window, at)
    at += length
    tally.expanded(entry.size)
    tally.entry(entry.rawName)
    entries.push(entry)
    if (entries.length % 64 === 0) yield
  }
  if (at !== offset + size) throw invalid('has a central directory that is too long')
  return { entries, offset }
}

function findDirectory(window: FileWindow, fileSize: number): DirectoryLocation {
  const tailBytes = Math.min(fileSize, endBytes + max16)
  const tail = window.bytes(fileSize - tailBytes, tailBytes)
  let at = tail.length - endBytes
  while (
    at >= 0 &&
    !(tail.readUInt32LE(at) === 0x06054b50 && at + endBytes + tail.readUInt16LE(at + 20) === tail.length)
  )
    at -= 1
  if (at < 0) throw invalid('is truncated or not a zip: it has no central directory')
  const end = fileSize - tailBytes + at
  const span: DirectoryLocation = {
    count: tail.readUInt16LE(at + 10),
    size: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  }
  const disks = tail.readUInt32LE(at + 4)
  const countHere = tail.readUInt16LE(at + 8)
  const large = zip64Directory(window, end)
  if (large === undefined) {
    if (disks !== 0 || countHere !== span.count)
      throw invalid('is one of several volumes, which are not supported')
    if (span.offset + span.size !== end)
      throw invalid('has a central directory that is not at its declared position')
    return span
  }
  const agrees = (small: number, max: number, value: number) => small === max || small === value
  if (
    !agrees(span.count, max16, large.count) ||
    !agrees(span.size, max32, large.size) ||
    !agrees(span.offset, max32, large.offset)
  )
    throw invalid('has two central directories')
  return large
}

/** Reads the zip64 end record, through the locator that precedes the end of the central directory. */
function zip64Directory(window: FileWindow, end: number): DirectoryLocation | undefined {
  if (end < locatorBytes) return undefined
  const locator = window.bytes(end - locatorBytes, locatorBytes)
  if (locator.readUInt32LE(0) !== 0x07064b50) return undefined
  if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) > 1)
    throw invalid('is one of several volumes, which are not supported')
  const at = large(locator, 8)
  const record = window.bytes(at, 56)
  if (record.readUInt32LE(0) !== 0x06064b50 || at + 12 + large(record, 4) !== end - locatorBytes)
    throw invalid('has a central directory that is not at its declared position')
  const span: DirectoryLocation = {
    count: large(record, 32),
    size: large(record, 40),
    offset: large(record, 48),
  }
  if (record.readUInt32LE(16) !== 0 || record.readUInt32LE(20) !== 0 || large(record, 24) !== span.count)
    throw invalid('is one of several volumes, which are not supported')
  if (span.offset + span.size !== at)
    throw invalid('has a central directory that is not at its declared position')
  return span
}

function readEntry(window: FileWindow, at: number): { readonly entry: ZipEntry; readonly length: number } {
  const lengths = window.bytes(at, entryBytes)
  if (lengths.readUInt32LE(0) !== 0x02014b50) throw invalid('has a central directory that cannot be read')
  const nameBytes = lengths.readUInt16LE(28)
  const extraBytes = lengths.readUInt16LE(30)
  const length = entryBytes + nameBytes + extraBytes + lengths.readUInt16LE(32)
  const header = window.bytes(at, length)
  const extra = header.subarray(entryBytes + nameBytes, entryBytes + nameBytes + extraBytes)
  const sizes = extraField(extra, 0x0001)
  let next = 0
  const field = (position: number) => {
    const value = header.readUInt32LE(position)
    if (value !== max32) return value
    if (sizes === undefined || sizes.length < next + 8) throw invalid('has an entry without its size')
    next += 8
    return large(sizes, next - 8)
  }
  // In the order of the zip64 extra field.
  const size = field(24)
  const compressed = field(20)
  const offset = field(42)
  const system = header.readUInt8(5)
  const attributes = header.readUInt32LE(38)
  const entry: ZipEntry = {
    rawName: header.toString('latin1', entryBytes, entryBytes + nameBytes),
    madeByUnix: system === unix || system === macos,
    flags: header.readUInt16LE(8),
    method: header.readUInt16LE(10),
    crc: header.readUInt32LE(16),
    compressed,
    size,
    offset,
    mode: attributes >>> 16,
    isDosDirectory: (attributes & 0x10) !== 0,
    mtime: unixTime(extra) ?? dosTime(header.readUInt16LE(14), header.readUInt16LE(12)),
  }
  return { entry, length }
}

function extraField(extra: Buffer, id: number): Buffer | undefined {
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === id) return extra.subarray(at + 4, at + 4 + length)
    at += 4 + length
  }
  return undefined
}

function unixTime(extra: Buffer): number | undefined {
  const times = extraField(extra, 0x5455)
  return times !== undefined && times.length >= 5 && (times[0]! & 1) !== 0 ? times.readInt32LE(1) : undefined
}

/** A DOS time has no time zone; it is taken as UTC. */
function dosTime(date: number, time: number): number {
  const ms = Date.UTC(
    1980 + (date >> 9),
    ((date >> 5) & 15) - 1,
    date & 31,
    time >> 11,
    (time >> 5) & 63,
    (time & 31) * 2,
  )
  return ms / 1000
}

function large(bytes: Buffer, at: number): number {
  const value = Number(bytes.readBigUInt64LE(at))
  if (!Number.isSafeInteger(value)) throw invalid('has a size that is too large')
  return value
}
