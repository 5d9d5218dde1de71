import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipMember {
  readonly name: string
  readonly content?: string
  /** Unix mode bits including the file type. */
  readonly mode?: number
  readonly deflate?: boolean
  readonly flags?: number
  readonly method?: number
  readonly crc?: number
  /** The name in the local header, if it differs from the central directory. */
  readonly localName?: string
}

const unix = 3 << 8
const utf8 = 0x800

export function zipOf(...entries: readonly ZipMember[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const entry of entries) {
    const fields = fieldsOf(entry)
    const body = localPart(entry, fields)
    directory.push(directoryPart(entry, fields, at))
    bodies.push(body)
    at += body.length
  }
  const size = directory.reduce((total, { length }) => total + length, 0)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...bodies, ...directory, end])
}

interface ZipFields {
  readonly stored: Buffer
  readonly common: Buffer
}

function fieldsOf({ content = '', deflate = false, flags = utf8, method, crc }: ZipMember): ZipFields {
  const bytes = Buffer.from(content)
  const stored = deflate ? deflateRawSync(bytes) : bytes
  const common = Buffer.alloc(22)
  common.writeUInt16LE(20, 0)
  common.writeUInt16LE(flags, 2)
  common.writeUInt16LE(method ?? (deflate ? 8 : 0), 4)
  common.writeUInt16LE(0x5022, 8)
  common.writeUInt32LE(crc ?? crc32(bytes), 10)
  common.writeUInt32LE(stored.length, 14)
  common.writeUInt32LE(bytes.length, 18)
  return { stored, common }
}

function localPart({ name, localName = name }: ZipMember, { stored, common }: ZipFields): Buffer {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  common.copy(header, 4)
  header.writeUInt16LE(Buffer.byteLength(localName), 26)
  return Buffer.concat([header, Buffer.from(localName), stored])
}

function directoryPart({ name, mode = 0o100644 }: ZipMember, { common }: ZipFields, at: number): Buffer {
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(unix | 20, 4)
  common.copy(header, 6)
  header.writeUInt16LE(Buffer.byteLength(name), 28)
  header.writeUInt32LE((mode << 16) >>> 0, 38)
  header.writeUInt32LE(at, 42)
  return Buffer.concat([header, Buffer.from(name)])
}
