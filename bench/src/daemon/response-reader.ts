type Part = 'head' | 'size' | 'bytes' | 'after' | 'done'

/** Finds the end of an HTTP response in a byte stream, by its content length or its chunks. */
export class ResponseReader {
  status = 0
  bodyBytes = 0
  #part: Part = 'head'
  #isChunked = false
  #line = ''
  #left = 0
  readonly #onBody: ((bytes: Buffer) => void) | undefined

  constructor(onBody?: (bytes: Buffer) => void) {
    this.#onBody = onBody
  }

  /** Adds bytes and returns whether the response is complete. */
  feed(bytes: Buffer): boolean {
    let at = 0
    while (at < bytes.length && this.#part !== 'done') {
      if (this.#part === 'head') at = this.#head(bytes, at)
      else if (this.#part === 'bytes') at = this.#body(bytes, at)
      else at = this.#lineOf(bytes, at)
    }
    return this.#part === 'done'
  }

  #head(bytes: Buffer, at: number): number {
    const before = this.#line.length
    this.#line += bytes.toString('latin1', at)
    const end = this.#line.indexOf('\r\n\r\n')
    if (end === -1) return bytes.length
    const head = this.#line.slice(0, end)
    this.#line = ''
    this.status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    this.#isChunked = length === undefined && /\r\ntransfer-encoding: chunked/i.test(head)
    this.#left = Number(length ?? 0)
    this.#part = this.#isChunked ? 'size' : this.#left === 0 ? 'done' : 'bytes'
    return at + end + 4 - before
  }

  #body(bytes: Buffer, at: number): number {
    const count = Math.min(this.#left, bytes.length - at)
    this.#onBody?.(bytes.subarray(at, at + count))
    this.bodyBytes += count
    this.#left -= count
    if (this.#left === 0) this.#part = this.#isChunked ? 'after' : 'done'
    return at + count
  }

  /** Reads the line with the size of a chunk, or the empty line after a chunk. */
  #lineOf(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(10, at)
    this.#line += bytes.toString('latin1', at, end === -1 ? bytes.length : end)
    if (end === -1) return bytes.length
    if (this.#part === 'after') this.#part = this.#left === -1 ? 'done' : 'size'
    else {
      const size = Number.parseInt(this.#line, 16)
      this.#left = size === 0 ? -1 : size
      this.#part = size === 0 ? 'after' : 'bytes'
    }
    this.#line = ''
    return end + 1
  }
}
