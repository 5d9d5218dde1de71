import { createHash } from 'node:crypto'

const bits = 2 ** 23
const bitsOfAnId = 8

/** A Bloom filter of 1 MiB: it never denies an id that was added, and 1 of 100 others is taken for one at 800,000 ids. */
export class IdFilter {
  #bytes: Uint8Array | undefined

  add(id: string): void {
    this.#bytes ??= new Uint8Array(bits / 8)
    for (const bit of bitsOf(id)) this.#bytes[bit >>> 3] = (this.#bytes[bit >>> 3] ?? 0) | (1 << (bit & 7))
  }

  mayHave(id: string): boolean {
    const bytes = this.#bytes
    return (
      bytes !== undefined && bitsOf(id).every((bit) => ((bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0)
    )
  }
}

function bitsOf(id: string): number[] {
  const hash = createHash('sha256').update(id).digest()
  return Array.from({ length: bitsOfAnId }, (_bit, index) => hash.readUInt32LE(index * 4) % bits)
}
