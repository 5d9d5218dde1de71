/** A piece of the agent's output: a line of text, or bytes that could not be read as one. */
export type LinePiece = { readonly kind: 'line'; readonly text: string; readonly bytes: number } | Garbage

export interface Garbage {
  readonly kind: 'garbage'
  readonly bytes: Buffer
  readonly reason: string
  /** The line exceeded the limit, and `bytes` is only its beginning. */
  readonly tooLong?: true
}

const newline = 0x0a

/** Splits bytes into lines of text. Lines that are not UTF-8, too long or truncated are returned as raw bytes. */
export class LineCutter {
  readonly #maxBytes: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #parts: Buffer[] = []
  #size = 0
  /** Discards the rest of a line that exceeded the limit. */
  #skipping = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  take(bytes: Buffer): LinePiece[] {
    const pieces: LinePiece[] = []
    let from = 0
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      this.#buffer(bytes.subarray(from, at), pieces)
      this.#endLine(pieces)
      from = at + 1
    }
    this.#buffer(bytes.subarray(from), pieces)
    return pieces
  }

  /** Returns the unfinished last line, when no more bytes follow. */
  end(): LinePiece[] {
    const rest = Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    return rest.length === 0 ? [] : [{ kind: 'garbage', bytes: rest, reason: 'cut off before its end' }]
  }

  #buffer(bytes: Buffer, pieces: LinePiece[]): void {
    if (bytes.length === 0 || this.#skipping) return
    const free = this.#maxBytes - this.#size
    this.#parts.push(bytes.subarray(0, free))
    this.#size += Math.min(bytes.length, free)
    if (bytes.length <= free) return
    const reason = `longer than ${this.#maxBytes} bytes; the rest was discarded`
    pieces.push({ kind: 'garbage', bytes: Buffer.concat(this.#parts), reason, tooLong: true })
    this.#parts = []
    this.#size = 0
    this.#skipping = true
  }

  #endLine(pieces: LinePiece[]): void {
    const [first = Buffer.alloc(0)] = this.#parts
    const line = this.#parts.length > 1 ? Buffer.concat(this.#parts) : first
    this.#parts = []
    this.#size = 0
    if (this.#skipping) {
      this.#skipping = false
      return
    }
    try {
      const text = this.#decoder.decode(line)
      if (text.trim() !== '') pieces.push({ kind: 'line', text, bytes: line.length })
    } catch {
      pieces.push({ kind: 'garbage', bytes: line, reason: 'not UTF-8' })
    }
  }
}
