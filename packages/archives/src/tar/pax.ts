import { VitrineError } from '@vitrine/protocol'
import { decodePathText } from '@vitrine/protocol/primitives'
import { invalid } from '../refusal.ts'

/** Larger than any legitimate header. */
export const maxPaxBytes = 1024 * 1024

export type PaxRecords = ReadonlyMap<string, string>

const equals = 0x3d
const newline = 0x0a
const space = 0x20

/** Extended attributes may contain NUL bytes; they are not restored. */
const bytesAllowed = /^(SCHILY|LIBARCHIVE)\.xattr\./

/** Parses records `length key=value\n`, where the length is in bytes and includes itself. */
export function readPax(body: Buffer): PaxRecords {
  const records = new Map<string, string>()
  for (let at = 0; at < body.length; ) {
    const length = recordLength(body, at)
    const end = at + length
    const from = body.indexOf(space, at) + 1
    const split = body.indexOf(equals, from)
    if (end > body.length || split < 0 || split >= end - 1 || split === from || body[end - 1] !== newline)
      throw invalid('has an extended header that cannot be read')
    const key = decodePathText(body.subarray(from, split))
    const value = body.subarray(split + 1, end - 1)
    if (key.includes('\0') || (value.includes(0) && !bytesAllowed.test(key)))
      throw new VitrineError(
        'archive_refused',
        `The archive has an extended header with a NUL in ${JSON.stringify(key.slice(0, 100).toWellFormed())}.`,
      )
    records.set(key, decodePathText(value))
    at = end
  }
  return records
}

function recordLength(body: Buffer, at: number): number {
  let value = 0
  for (let index = at; index < at + 8; index += 1) {
    const digit = (body[index] ?? 0) - 0x30
    if (body[index] === space && index > at) return value
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  throw invalid('has an extended header that cannot be read')
}

/** Refuses a global header, which would change all following members, except the comment that `git archive` writes. */
export function checkGlobal(records: PaxRecords): void {
  for (const key of records.keys())
    if (key !== 'comment')
      throw new VitrineError(
        'archive_refused',
        `The archive has a global extended header with ${JSON.stringify(key.slice(0, 100).toWellFormed())}.`,
      )
}

/** Reads a non-negative integer. */
export function paxNumber(records: PaxRecords, key: string): number | undefined {
  const text = records.get(key)
  if (text === undefined) return undefined
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value)) throw invalid(`has an extended header with a bad ${key}`)
  return value
}

export function paxTime(records: PaxRecords): number | undefined {
  const text = records.get('mtime')
  if (text === undefined) return undefined
  if (!/^-?\d{1,20}(\.\d{0,30})?$/.test(text)) throw invalid('has an extended header with a bad mtime')
  return Number(text)
}

/** Builds one record. Its length includes its own digits. */
export function paxRecord(key: string, value: string | Buffer): Buffer {
  const rest = 3 + key.length + (typeof value === 'string' ? Buffer.byteLength(value) : value.length)
  let length = rest + 1
  while (rest + String(length).length !== length) length = rest + String(length).length
  if (typeof value === 'string') return Buffer.from(`${length} ${key}=${value}\n`)
  return Buffer.concat([Buffer.from(`${length} ${key}=`), value, Buffer.of(newline)])
}
