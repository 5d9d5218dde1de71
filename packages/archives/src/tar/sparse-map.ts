import type { Extent } from '../member.ts'
import { invalid, refusal } from '../refusal.ts'
import { readNumber } from './numbers.ts'

const maxExtents = 1_000_000
const newline = 0x0a

/** Collects the extents of a sparse file. They must be in order and within the file. */
class ExtentList {
  readonly extents: Extent[] = []
  readonly #name: string
  readonly #size: number
  #end = 0

  constructor(name: string, size: number) {
    this.#name = name
    this.#size = size
  }

  add(at: number, length: number): void {
    if (at < this.#end || length < 0 || at + length > this.#size || this.extents.length >= maxExtents)
      throw refusal(this.#name, 'is a sparse file with an invalid map')
    this.#end = at + length
    if (length > 0) this.extents.push({ at, length })
  }
}

/** Parses the blocks of a sparse map. */
export interface SparseMap {
  readonly extents: readonly Extent[]
  /** Whether the member's stored size includes the map's blocks. */
  readonly counted: boolean
  take(block: Buffer): 'more' | 'whole'
}

/** Parses the PAX 1.0 format: decimal lines before the content, `count` and then `offset` and `length` of each extent. */
export function textMap(name: string, size: number): SparseMap {
  const list = new ExtentList(name, size)
  let numbers = 0
  let expected: number | undefined
  let offset = 0
  let value = 0
  let digits = 0
  const wrong = () => refusal(name, 'is a sparse file with an invalid map')
  const add = () => {
    if (expected === undefined) expected = value * 2
    else if (numbers++ % 2 === 0) offset = value
    else list.add(offset, value)
    value = 0
    digits = 0
  }
  return {
    extents: list.extents,
    counted: true,
    take(block) {
      for (let index = 0; index < block.length && numbers !== expected; index += 1) {
        const byte = block[index]!
        if (byte === newline && digits > 0) {
          add()
          continue
        }
        const digit = byte - 0x30
        digits += 1
        if (digit < 0 || digit > 9 || digits > 16) throw wrong()
        value = value * 10 + digit
        if (!Number.isSafeInteger(value) || (expected === undefined && value > maxExtents)) throw wrong()
      }
      return numbers === expected ? 'whole' : 'more'
    },
  }
}

/** Parses the old GNU format: pairs of numbers in the header and in extension blocks after it. */
export function headerMap(name: string, block: Buffer): { readonly size: number; readonly map: SparseMap } {
  const size = readNumber(block, 483, 12)
  if (size < 0) throw invalid('has a sparse file of a negative size')
  const list = new ExtentList(name, size)
  const takePairs = (from: Buffer, at: number, count: number) => {
    for (let pair = 0; pair < count; pair += 1) {
      const start = at + pair * 24
      if (from[start] === 0) return
      list.add(readNumber(from, start, 12), readNumber(from, start + 12, 12))
    }
  }
  takePairs(block, 386, 4)
  const map: SparseMap = {
    extents: list.extents,
    counted: false,
    take(extension) {
      takePairs(extension, 0, 21)
      return extension[504] !== 0 ? 'more' : 'whole'
    },
  }
  return { size, map }
}

/** Whether extension blocks of the map follow the header. */
export function hasMoreMap(header: Buffer): boolean {
  return header[482] !== 0
}
