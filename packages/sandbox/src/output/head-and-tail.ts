/** Masks the secrets in a range of bytes that are partly inside. */
export type MaskExcerpt = (bytes: Uint8Array, start: number, end: number) => Uint8Array

/** The bytes on the inner side of a cut that are kept to recognise a secret that was cut. */
export const cutMargin = 4_096

/**
 * Keeps the first and the last bytes of a stream, by default half each, and counts the bytes skipped between them. With
 * a margin, it also knows the bytes next to the cuts, and can mask secrets that were cut.
 */
export class HeadAndTail {
  readonly #headLimit: number
  readonly #tailLimit: number
  readonly #margin: number
  readonly #head = new Ring()
  readonly #tail = new Ring()
  #bytes = 0

  constructor(limit: number, headShare = 0.5, margin = 0) {
    this.#headLimit = Math.ceil(limit * headShare)
    this.#tailLimit = limit - this.#headLimit
    this.#margin = margin
  }

  get skipped(): number {
    return Math.max(0, this.#bytes - this.#headLimit - this.#tailLimit)
  }

  get bytes(): number {
    return this.#bytes
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    // A stream without a head has no cut at the end of one.
    const headLimit = this.#headLimit === 0 ? 0 : this.#headLimit + this.#margin
    const available = Math.max(0, headLimit - this.#head.bytes)
    this.#head.push(chunk.subarray(0, available), headLimit)
    this.#tail.push(chunk.subarray(available), this.#tailLimit + this.#margin)
  }

  /** The kept bytes as two parts; `tail` is empty while no bytes were skipped. */
  parts(): { readonly head: Buffer; readonly tail: Buffer } {
    return this.#cut((bytes, start, end) => bytes.subarray(start, end))
  }

  /** The kept bytes as text, with a line that says how many are missing. Characters are never cut in two. */
  text(): string {
    return this.#textOf(this.parts())
  }

  /** The same with the secrets masked that were cut. Others stay. */
  maskedText(mask: MaskExcerpt): string {
    return this.skipped === 0 ? this.text() : this.#textOf(this.#cut(mask))
  }

  /** The bytes of the margin before the tail. */
  beforeTail(): Buffer {
    const { tail } = this.#known()
    return tail.subarray(0, Math.max(0, tail.length - this.#tailLimit))
  }

  /** The kept bytes with their margins; both parts are the same if nothing is missing between them. */
  #known(): { readonly head: Buffer; readonly tail: Buffer } {
    const head = this.#head.content()
    const tail = this.#tail.content()
    if (head.length + tail.length < this.#bytes) return { head, tail }
    const all = Buffer.concat([head, tail])
    return { head: all, tail: all }
  }

  #cut(take: MaskExcerpt): { readonly head: Buffer; readonly tail: Buffer } {
    const { head, tail } = this.#known()
    if (this.skipped === 0) return { head, tail: Buffer.alloc(0) }
    return {
      head: bufferOf(take(head, 0, this.#headLimit)),
      tail: bufferOf(take(tail, tail.length - this.#tailLimit, tail.length)),
    }
  }

  #textOf({ head, tail }: { readonly head: Buffer; readonly tail: Buffer }): string {
    const { skipped } = this
    if (skipped === 0) return head.toString('utf8')
    const before = head.subarray(0, completeCharacters(head))
    const after = tail.subarray(leadingContinuation(tail))
    const missing = skipped + (head.length - before.length) + (tail.length - after.length)
    return `${before.toString('utf8')}\n… ${missing} bytes left out …\n${after.toString('utf8')}`
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The last bytes of a stream in one ring buffer, so that one-byte chunks have no overhead each. */
class Ring {
  #buffer = Buffer.alloc(0)
  #start = 0
  bytes = 0

  push(chunk: Uint8Array, limit: number): void {
    const kept = chunk.subarray(Math.max(0, chunk.length - limit))
    if (kept.length === 0) return
    const surplus = Math.max(0, this.bytes + kept.length - limit)
    this.bytes -= surplus
    if (this.bytes + kept.length > this.#buffer.length) this.#grow(surplus, limit, kept.length)
    else this.#start = (this.#start + surplus) % this.#buffer.length
    const at = (this.#start + this.bytes) % this.#buffer.length
    const first = kept.subarray(0, this.#buffer.length - at)
    this.#buffer.set(first, at)
    this.#buffer.set(kept.subarray(first.length), 0)
    this.bytes += kept.length
  }

  content(): Buffer {
    const end = this.#start + this.bytes
    return Buffer.concat([
      this.#buffer.subarray(this.#start, end),
      this.#buffer.subarray(0, Math.max(0, end - this.#buffer.length)),
    ])
  }

  #grow(surplus: number, limit: number, more: number): void {
    this.bytes += surplus
    const kept = this.content().subarray(surplus)
    this.bytes -= surplus
    const size = Math.max(2 * this.#buffer.length, this.bytes + more, 4_096)
    this.#buffer = Buffer.alloc(Math.min(limit, size))
    this.#buffer.set(kept, 0)
    this.#start = 0
  }
}

/** The number of bytes that hold complete UTF-8 characters, without a sequence that is cut off at the end. */
export function completeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    return sequenceLength(byte) > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** The number of bytes at the start that continue a character from before. */
function leadingContinuation(bytes: Uint8Array): number {
  let count = 0
  while (count < Math.min(3, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count += 1
  return count
}

function sequenceLength(first: number): number {
  if (first >= 0xf0 && first <= 0xf4) return 4
  if (first >= 0xe0) return first < 0xf0 ? 3 : 1
  return first >= 0xc2 && first < 0xe0 ? 2 : 1
}
