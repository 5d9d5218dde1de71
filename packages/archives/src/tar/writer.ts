import { toBytes } from '../directories/exact-text.ts'
import type { Extent, Member } from '../member.ts'
import { blockBytes, checksumOf, paddingOf } from './blocks.ts'
import { fitsOctal, writeOctal } from './numbers.ts'
import { paxRecord } from './pax.ts'

/** A member to be written. */
export interface WrittenMember extends Omit<Member, 'kind'> {
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink'
  readonly uid: number
  readonly gid: number
  readonly sparse?: SparseContent
}

/** The content of a sparse file: the map follows the headers, then the extents. */
export interface SparseContent {
  readonly map: Buffer
  readonly extents: readonly Extent[]
}

const types = { file: '0', hardlink: '1', symlink: '2', directory: '5' } as const
const nameBytes = 100
const ownerBytes = 8
const wideBytes = 12

/** An upper bound for the size of a member's headers, without a sparse map. */
export function maxHeaderBytes({ name, target }: WrittenMember): number {
  return 4 * 1024 + 8 * name.length + 4 * target.length
}

/** Writes the headers of a member and returns the position after them. */
export function writeHeaders(out: Buffer, at: number, member: WrittenMember): number {
  const { records, name, target, size } = headerFields(member)
  let end = at
  if (records.length > 0) {
    const body = records.length === 1 ? records[0]! : Buffer.concat(records)
    end += paxHeader(body.length).copy(out, end)
    end += body.copy(out, end)
    const padding = paddingOf(body.length)
    out.fill(0, end, end + padding)
    end += padding
  }
  const { kind, mode, mtime, uid, gid } = member
  end = writeBlock(out, end, {
    name,
    target,
    mode,
    uid: fitsOctal(uid, ownerBytes) ? uid : 0,
    gid: fitsOctal(gid, ownerBytes) ? gid : 0,
    size: fitsOctal(size, wideBytes) ? size : 0,
    mtime: fitsOctal(Math.floor(mtime), wideBytes) ? Math.floor(mtime) : 0,
    type: types[kind],
  })
  return end
}

/** Builds the sparse map: lines of numbers, padded to whole blocks. Its last entry marks the end of the file. */
export function sparseContent(extents: readonly Extent[], size: number): SparseContent {
  const lines: string[] = []
  for (const { at, length } of [...extents, { at: size, length: 0 }]) lines.push(String(at), String(length))
  lines.unshift(String(lines.length / 2))
  const text = Buffer.from(`${lines.join('\n')}\n`)
  return { map: Buffer.concat([text, Buffer.alloc(paddingOf(text.length))]), extents }
}

/** The number of bytes that a member's content takes in the archive. */
export function storedBytes(member: WrittenMember): number {
  if (member.kind !== 'file') return 0
  if (member.sparse === undefined) return member.size
  const { map, extents } = member.sparse
  return extents.reduce((sum, { length }) => sum + length, map.length)
}

interface BlockFields {
  readonly name: string
  readonly target: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly size: number
  readonly mtime: number
  readonly type: string
}

const plainHeader = { name: 'PaxHeaders/member', target: '', mode: 0o644, uid: 0, gid: 0, mtime: 0 } as const
const paxHeaders: Buffer[] = []

/** Caches headers by size, since most PAX headers contain only a time and have one of a few sizes. */
function paxHeader(size: number): Buffer {
  const known = paxHeaders[size]
  if (known !== undefined) return known
  const header = Buffer.allocUnsafeSlow(blockBytes)
  writeBlock(header, 0, { ...plainHeader, size, type: 'x' })
  if (size < 128) paxHeaders[size] = header
  return header
}

/** Computes the header fields, and PAX records for the values that do not fit into them. */
function headerFields(member: WrittenMember) {
  const { mtime, uid, gid } = member
  const size = storedBytes(member)
  const records: Buffer[] = []
  const name = fitsHeader(member.name)
  const target = fitsHeader(member.target)
  if (member.sparse !== undefined) {
    records.push(
      paxRecord('GNU.sparse.major', '1'),
      paxRecord('GNU.sparse.minor', '0'),
      paxRecord('GNU.sparse.name', toBytes(member.name)),
      paxRecord('GNU.sparse.realsize', String(member.size)),
    )
  } else if (name === undefined) records.push(paxRecord('path', toBytes(member.name)))
  if (target === undefined) records.push(paxRecord('linkpath', toBytes(member.target)))
  if (!fitsOctal(size, wideBytes)) records.push(paxRecord('size', String(size)))
  if (!fitsOctal(uid, ownerBytes)) records.push(paxRecord('uid', String(uid)))
  if (!fitsOctal(gid, ownerBytes)) records.push(paxRecord('gid', String(gid)))
  if (!fitsOctal(mtime, wideBytes)) records.push(paxRecord('mtime', timeText(mtime)))
  return { records, size, name: name ?? fallbackName(member), target: target ?? '' }
}

/** Returns the text if it fits a header field, else undefined. */
function fitsHeader(text: string): string | undefined {
  return text.length <= nameBytes && !/[^\x20-\x7e]/.test(text) ? text : undefined
}

/** The name that programs without PAX support see. */
function fallbackName({ kind }: WrittenMember): string {
  return kind === 'directory' ? 'PaxNames/directory/' : 'PaxNames/member'
}

function timeText(seconds: number): string {
  const micro = Math.round(seconds * 1e6)
  const sign = micro < 0 ? '-' : ''
  const digits = String(Math.abs(micro)).padStart(7, '0')
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}

function writeBlock(out: Buffer, at: number, fields: BlockFields): number {
  const { block, sum } = templateFor(fields)
  block.copy(out, at)
  out.write(fields.name, at, nameBytes, 'latin1')
  out.write(fields.target, at + 157, nameBytes, 'latin1')
  writeOctal(out, at + 124, wideBytes, fields.size)
  writeOctal(out, at + 136, wideBytes, fields.mtime)
  const own = sumOf(out, at, fields.name.length) + sumOf(out, at + 157, fields.target.length)
  writeOctal(out, at + 148, 7, sum + own + sumOf(out, at + 124, 2 * wideBytes))
  out[at + 155] = 0x20
  return at + blockBytes
}

function sumOf(bytes: Buffer, at: number, length: number): number {
  let sum = 0
  for (let index = at; index < at + length; index += 1) sum += bytes[index]!
  return sum
}

interface Template {
  readonly block: Buffer
  readonly sum: number
  readonly fields: BlockFields
}

let template: Template | undefined

/** Returns a block with the fields that most consecutive members share, cached from the previous member. */
function templateFor(fields: BlockFields): Template {
  const last = template?.fields
  const { mode, uid, gid, type } = fields
  if (template && last?.mode === mode && last.uid === uid && last.gid === gid && last.type === type)
    return template
  const block = Buffer.alloc(blockBytes)
  writeOctal(block, 100, ownerBytes, mode)
  writeOctal(block, 108, ownerBytes, uid)
  writeOctal(block, 116, ownerBytes, gid)
  block[156] = type.charCodeAt(0)
  block.write('ustar\x0000', 257, 'latin1')
  template = { block, sum: checksumOf(block, 0), fields }
  return template
}
