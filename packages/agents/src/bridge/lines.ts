/** A piece of what an agent wrote: a whole line, or what could not be one. */
export type Piece = { readonly kind: 'line'; readonly text: string; readonly bytes: number } | Garbage

export interface Garbage {
  readonly kind: 'garbage'
  readonly bytes: Buffer
  readonly reason: string
  /** It is not all of it. */
  readonly tooLong?: true
}

const newline = 0x0a

/** Cuts bytes into lines of text. What is no UTF-8, too long or cut off is kept as the bytes it is. */
export class LineCutter {
  readonly #maxBytes: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #parts: Buffer[] = []
  #size = 0
  /** Passing over the rest of a line that was too long. */
  #skipping = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  take(bytes: Buffer): Piece[] {
    const pieces: Piece[] = []
    let from = 0
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      this.#keep(bytes.subarray(from, at), pieces)
      this.#endLine(pieces)
      from = at + 1
    }
    this.#keep(bytes.subarray(from), pieces)
    return pieces
  }

  /** Nothing follows. */
  end(): Piece[] {
    const rest = Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    return rest.length === 0 ? [] : [{ kind: 'garbage', bytes: rest, reason: 'cut off before its end' }]
  }

  #keep(bytes: Buffer, pieces: Piece[]): void {
    if (bytes.length === 0 || this.#skipping) return
    const room = this.#maxBytes - this.#size
    this.#parts.push(bytes.subarray(0, room))
    this.#size += Math.min(bytes.length, room)
    if (bytes.length <= room) return
    const reason = `longer than ${this.#maxBytes} bytes; only these are kept`
    pieces.push({ kind: 'garbage', bytes: Buffer.concat(this.#parts), reason, tooLong: true })
    this.#parts = []
    this.#size = 0
    this.#skipping = true
  }

  #endLine(pieces: Piece[]): void {
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
