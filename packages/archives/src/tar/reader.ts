import { decodePathText } from '@vitrine/protocol/primitives'
import type { Extent, Member, MemberKind } from '../member.ts'
import { invalid, refusal } from '../refusal.ts'
import { blockBytes, paddingOf } from './blocks.ts'
import { isZero, readHeader, type TarHeader } from './header.ts'
import { checkGlobal, maxPaxBytes, type PaxRecords, paxNumber, paxTime, readPax } from './pax.ts'
import { hasMoreMap, headerMap, type SparseMap, textMap } from './sparse-map.ts'

/** A parsed piece of a tar. A member is followed by its data and its end. */
export type TarPiece =
  /** `holes` counts the bytes of a sparse file that are not stored. */
  | { readonly kind: 'member'; readonly member: Member; readonly holes?: number }
  | { readonly kind: 'data'; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'end' }

const kinds: Readonly<Record<string, MemberKind>> = {
  '0': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '3': 'device',
  '4': 'device',
  '5': 'directory',
  '6': 'fifo',
  '7': 'file',
  S: 'file',
}

type State = 'header' | 'extension' | 'map' | 'data' | 'padding' | 'zero' | 'over'

const nothing: Buffer = Buffer.alloc(0)

/**
 * Parses a tar from chunks of any size: push a chunk, call `next()` until it returns undefined, push the next chunk. It
 * buffers at most one header, and a piece is valid until the next push.
 */
export class TarReader {
  #state: State = 'header'
  #chunk = nothing
  #at = 0
  #partial: { readonly bytes: Buffer; filled: number } | undefined

  /** Extension headers for the next member. */
  #extension: TarHeader | undefined
  #pax: PaxRecords | undefined
  #longName: string | undefined
  #longTarget: string | undefined

  /** The current member. */
  #stored = 0
  #padding = 0
  #member: Member | undefined
  #map: SparseMap | undefined
  #extents: readonly Extent[] = []
  #extent = 0
  #done = 0

  push(chunk: Uint8Array): void {
    this.#chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    this.#at = 0
  }

  /** True after the end of the archive; further bytes are ignored. */
  get isOver(): boolean {
    return this.#state === 'over'
  }

  next(): TarPiece | undefined {
    for (;;) {
      if (this.#state === 'over') return undefined
      if (this.#state === 'data') return this.#nextData()
      const bytes = this.#take(this.#wanted())
      if (bytes === undefined) return undefined
      const piece = this.#read(bytes)
      if (piece !== undefined) return piece
    }
  }

  /** Called after the last chunk; throws if the archive is incomplete. */
  finish(): void {
    const whole = this.#state === 'over' || (this.#state === 'zero' && this.#partial === undefined)
    if (!whole) throw invalid('is truncated')
  }

  #wanted(): number {
    if (this.#state === 'padding') return this.#padding
    if (this.#state !== 'extension') return blockBytes
    const { size } = this.#extension!
    return size + paddingOf(size)
  }

  #read(bytes: Buffer): TarPiece | undefined {
    switch (this.#state) {
      case 'header':
        if (!isZero(bytes)) return this.#readHeader(bytes)
        if (this.#isPending()) throw invalid('ends after an extended header without its member')
        this.#state = 'zero'
        return undefined
      case 'zero':
        if (!isZero(bytes)) throw invalid('has an empty block where a member should be')
        this.#state = 'over'
        return undefined
      case 'extension':
        this.#readExtension(bytes)
        return undefined
      case 'map':
        return this.#readMap(bytes)
      case 'padding':
        this.#state = 'header'
        return undefined
      default:
        throw new Error(`unreachable: ${this.#state}`)
    }
  }

  #readHeader(block: Buffer): TarPiece | undefined {
    const header = readHeader(block)
    if ('xgLK'.includes(header.type)) {
      if (header.size > maxPaxBytes) throw invalid('has an extended header that is too long')
      this.#extension = header
      this.#state = 'extension'
      return undefined
    }
    const pax = this.#pax
    const name =
      pax?.get('GNU.sparse.name') ?? pax?.get('path') ?? this.#longName ?? decodePathText(header.name)
    const target = pax?.get('linkpath') ?? this.#longTarget ?? decodePathText(header.target)
    const kind = kindOf(header, name)
    const stored = (pax && paxNumber(pax, 'size')) ?? header.size
    if (kind !== 'file' && stored !== 0) throw refusal(name, `is a ${kind} but has content`)
    const sparse = header.type === 'S' ? headerMap(name, block) : paxSparse(name, pax)
    const size = sparse?.size ?? stored
    const mtime = (pax && paxTime(pax)) ?? header.mtime
    this.#member = { name, kind, mode: header.mode, mtime, size, target }
    this.#stored = stored
    this.#padding = paddingOf(stored)
    this.#pax = this.#longName = this.#longTarget = undefined
    if (sparse === undefined) {
      this.#beginData([{ at: 0, length: stored }])
      return { kind: 'member', member: this.#member }
    }
    this.#map = sparse.map
    if (header.type === 'S' && !hasMoreMap(block)) return this.#beginSparse()
    this.#state = 'map'
    return undefined
  }

  #readExtension(body: Buffer): void {
    const { type, size } = this.#extension!
    const content = body.subarray(0, size)
    this.#extension = undefined
    this.#state = 'header'
    if (type === 'g') {
      checkGlobal(readPax(content))
      return
    }
    const end = content.indexOf(0)
    const text = () => decodePathText(Buffer.from(end < 0 ? content : content.subarray(0, end)))
    const known = { x: this.#pax, L: this.#longName, K: this.#longTarget }[type]
    if (known !== undefined) throw invalid('has two headers of one kind for a member')
    if (type === 'x') this.#pax = readPax(content)
    else if (type === 'L') this.#longName = text()
    else this.#longTarget = text()
  }

  #readMap(block: Buffer): TarPiece | undefined {
    const more = this.#map!.take(block)
    if (this.#map!.counted) this.#stored -= blockBytes
    if (this.#stored < 0) throw refusal(this.#member!.name, 'is a sparse file with an invalid map')
    return more === 'whole' ? this.#beginSparse() : undefined
  }

  #beginSparse(): TarPiece {
    const { extents } = this.#map!
    this.#map = undefined
    const member = this.#member!
    const length = extents.reduce((sum, extent) => sum + extent.length, 0)
    if (length !== this.#stored) throw refusal(member.name, 'is a sparse file with an invalid map')
    this.#beginData(extents)
    return { kind: 'member', member, holes: member.size - length }
  }

  #beginData(extents: readonly Extent[]): void {
    this.#extents = extents
    this.#extent = 0
    this.#done = 0
    this.#state = 'data'
  }

  #nextData(): TarPiece | undefined {
    let extent = this.#extents[this.#extent]
    while (extent !== undefined && this.#done === extent.length) {
      this.#extent += 1
      this.#done = 0
      extent = this.#extents[this.#extent]
    }
    if (extent === undefined) {
      this.#state = this.#padding > 0 ? 'padding' : 'header'
      return { kind: 'end' }
    }
    const length = Math.min(this.#chunk.length - this.#at, extent.length - this.#done)
    if (length === 0) return undefined
    const piece: TarPiece = {
      kind: 'data',
      at: extent.at + this.#done,
      bytes: this.#chunk.subarray(this.#at, this.#at + length),
    }
    this.#at += length
    this.#done += length
    return piece
  }

  #isPending(): boolean {
    return this.#pax !== undefined || this.#longName !== undefined || this.#longTarget !== undefined
  }

  /** Returns `count` bytes, or undefined until so many have arrived. */
  #take(count: number): Buffer | undefined {
    const left = this.#chunk.length - this.#at
    if (this.#partial === undefined && left >= count) {
      this.#at += count
      return this.#chunk.subarray(this.#at - count, this.#at)
    }
    if (left === 0) return undefined
    this.#partial ??= { bytes: Buffer.allocUnsafe(count), filled: 0 }
    const { bytes, filled } = this.#partial
    const copied = this.#chunk.copy(bytes, filled, this.#at, this.#at + count - filled)
    this.#partial.filled += copied
    this.#at += copied
    if (this.#partial.filled < count) return undefined
    this.#partial = undefined
    return bytes
  }
}

function kindOf({ type }: TarHeader, name: string): MemberKind {
  const kind = kinds[type]
  if (kind === undefined) throw refusal(name, `is of the unknown kind ${JSON.stringify(type)}`)
  // Old tars have no type for directories and mark them with a trailing slash.
  return kind === 'file' && name.endsWith('/') ? 'directory' : kind
}

function paxSparse(
  name: string,
  pax: PaxRecords | undefined,
): { readonly size: number; readonly map: SparseMap } | undefined {
  if (pax === undefined) return undefined
  let sparse = false
  for (const key of pax.keys()) sparse ||= key.startsWith('GNU.sparse.')
  if (!sparse) return undefined
  const size = paxNumber(pax, 'GNU.sparse.realsize')
  if (pax.get('GNU.sparse.major') !== '1' || pax.get('GNU.sparse.minor') !== '0' || size === undefined)
    throw refusal(name, 'is a sparse file of a version other than 1.0')
  return { size, map: textMap(name, size) }
}
