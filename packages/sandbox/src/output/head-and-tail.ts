/** Keeps the first and the last bytes of a stream, half and half, and counts what lay between. */
export class HeadAndTail {
  readonly #headLimit: number
  readonly #tailLimit: number
  readonly #head: Uint8Array[] = []
  #tail: Uint8Array[] = []
  #headBytes = 0
  #tailBytes = 0
  #skipped = 0

  constructor(limit: number, headShare = 0.5) {
    this.#headLimit = Math.ceil(limit * headShare)
    this.#tailLimit = limit - this.#headLimit
  }

  get skipped(): number {
    return this.#skipped
  }

  get bytes(): number {
    return this.#headBytes + this.#skipped + this.#tailBytes
  }

  push(chunk: Uint8Array): void {
    const room = this.#headLimit - this.#headBytes
    if (room > 0) {
      const part = chunk.subarray(0, room)
      this.#head.push(part)
      this.#headBytes += part.length
    }
    const rest = chunk.subarray(Math.max(0, room))
    if (rest.length > 0) this.#pushTail(rest)
  }

  #pushTail(chunk: Uint8Array): void {
    this.#tail.push(chunk)
    this.#tailBytes += chunk.length
    while (this.#tailBytes > this.#tailLimit) {
      const [first] = this.#tail
      if (first === undefined) break
      const surplus = this.#tailBytes - this.#tailLimit
      const dropped = Math.min(surplus, first.length)
      if (dropped === first.length) this.#tail.shift()
      else this.#tail[0] = first.subarray(dropped)
      this.#tailBytes -= dropped
      this.#skipped += dropped
    }
  }

  /** What was kept, as two pieces; the second is empty while nothing is missing between them. */
  parts(): { readonly head: Buffer; readonly tail: Buffer } {
    const head = Buffer.concat(this.#head)
    const tail = Buffer.concat(this.#tail)
    return this.#skipped === 0 ? { head: Buffer.concat([head, tail]), tail: Buffer.alloc(0) } : { head, tail }
  }

  /** What was kept as text, with a line that says how much is missing. Characters are never cut in two. */
  text(): string {
    const { head, tail } = this.parts()
    if (this.#skipped === 0) return head.toString('utf8')
    const before = head.subarray(0, completeCharacters(head))
    const after = tail.subarray(leadingContinuation(tail))
    const missing = this.#skipped + (head.length - before.length) + (tail.length - after.length)
    return `${before.toString('utf8')}\n… ${missing} bytes left out …\n${after.toString('utf8')}`
  }
}

/** How many bytes from the start hold whole UTF-8 characters: a sequence that is cut at the end is left out. */
export function completeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    return sequenceLength(byte) > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** How many bytes at the start belong to a character that began before. */
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
