/** How ambiguous escapes are read. */
export interface Reading {
  /** Octal escapes have up to three digits as in C, or three after a zero as `echo -e` reads them. */
  readonly octal: 'c' | 'echo'
  /** An escape of one byte above 127 is a byte of UTF-8, or a character of Latin-1 as in JavaScript and Python. */
  readonly high: 'byte' | 'character'
}

export const firstReading: Reading = { octal: 'c', high: 'byte' }

/** All of them, the most frequent first. */
export const readings: readonly Reading[] = [
  firstReading,
  { octal: 'echo', high: 'byte' },
  { octal: 'c', high: 'character' },
  { octal: 'echo', high: 'character' },
]

/** No escape is longer. The memory that is read has as many zeros after its text. */
export const longestEscape = 12

export const backslash = 92
export const percent = 37
const zero = 48
const openBrace = 123
const closeBrace = 125
const smallU = 117
const capitalU = 85
const smallX = 120

/** The bytes of the escapes that are a backslash and one character: a letter, a sign, the end of a line. */
const shortEscapes = new Int16Array(256).fill(-1)
for (const sign of ' !"#$&\'()*+,-./:;<=>?@[\\]^_`{|}~\r\n')
  shortEscapes[sign.charCodeAt(0)] = sign.charCodeAt(0)
for (const [letter, byte] of Object.entries({ a: 7, b: 8, e: 27, f: 12, n: 10, r: 13, t: 9, v: 11 }))
  shortEscapes[letter.charCodeAt(0)] = byte

const hexValues = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  hexValues[digit.charCodeAt(0)] = value
  hexValues[digit.toUpperCase().charCodeAt(0)] = value
}

/**
 * Reads single escapes: `%XX`, `%uXXXX`, `\xXX`, `\uXXXX`, `\u{X}`, `\UXXXXXXXX`, `\n` and octal ones. One object reads
 * all escapes of a text, so that no memory is allocated for each.
 */
export class EscapeReader {
  /** The index after the last escape. */
  stop = 0
  /** Whether an escape was read that has another reading. */
  hasEcho = false
  hasHigh = false
  readonly #reading: Reading
  #value = 0
  #isByte = false

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** Reads the escape that starts at a backslash or percent sign. Returns false if there is none. */
  read(source: Uint8Array, at: number): boolean {
    const next = source[at + 1]!
    if (source[at] === percent)
      return next === smallU ? this.#unit(source, at, at + 2) : this.#byte(source, at + 1)
    const short = shortEscapes[next]!
    if (short !== -1) return this.#found(short, true, at + 2)
    if (next === smallX) return this.#byte(source, at + 2)
    if (next === smallU)
      return source[at + 2] === openBrace ? this.#braced(source, at + 3) : this.#unit(source, at, at + 2)
    if (next === capitalU) return this.#point(source, at + 2)
    return isOctal(next) && this.#octal(source, at + 1)
  }

  /** Writes the bytes of the last escape and returns the index after them. They are never more than its characters. */
  write(out: Uint8Array, at: number): number {
    const value = this.#value
    if (value < 0x80 || (this.#isByte && this.#reading.high === 'byte')) {
      out[at] = value
      return at + 1
    }
    if (value < 0x800) {
      out[at] = 0xc0 | (value >> 6)
      out[at + 1] = 0x80 | (value & 63)
      return at + 2
    }
    const isPoint = value <= 0x10ffff && (value < 0xd800 || value > 0xdfff)
    return writeLong(out, at, isPoint ? value : 0xfffd)
  }

  #found(value: number, isByte: boolean, stop: number): true {
    this.#value = value
    this.#isByte = isByte
    this.stop = stop
    if (isByte && value > 127) this.hasHigh = true
    return true
  }

  #byte(source: Uint8Array, at: number): boolean {
    const value = hex(source, at, 2)
    return value !== -1 && this.#found(value, true, at + 2)
  }

  /** The two halves of a surrogate pair are one escape. */
  #unit(source: Uint8Array, start: number, at: number): boolean {
    const unit = hex(source, at, 4)
    if (unit === -1) return false
    const stop = at + 4
    if (unit >= 0xd800 && unit < 0xdc00 && source[stop] === source[start] && source[stop + 1] === smallU) {
      const low = hex(source, stop + 2, 4)
      if (low >= 0xdc00 && low <= 0xdfff)
        return this.#found(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), false, stop + 6)
    }
    return this.#found(unit, false, stop)
  }

  #braced(source: Uint8Array, at: number): boolean {
    let end = at
    while (end < at + 6 && hexValues[source[end]!] !== -1) end++
    if (end === at || source[end] !== closeBrace) return false
    return this.#found(hex(source, at, end - at), false, end + 1)
  }

  #point(source: Uint8Array, at: number): boolean {
    if (hex(source, at, 2) !== 0) return false
    const value = hex(source, at + 2, 6)
    return value !== -1 && value <= 0x10ffff && this.#found(value, false, at + 8)
  }

  #octal(source: Uint8Array, at: number): boolean {
    const first = source[at]! - zero
    if (!isOctal(source[at + 1]!)) return this.#found(first, true, at + 1)
    const second = source[at + 1]! - zero
    const two = first * 8 + second
    if (first > 3 || !isOctal(source[at + 2]!)) return this.#found(two, true, at + 2)
    const three = two * 8 + source[at + 2]! - zero
    if (first === 0 && second < 4 && isOctal(source[at + 3]!)) {
      this.hasEcho = true
      if (this.#reading.octal === 'echo') return this.#found(three * 8 + source[at + 3]! - zero, true, at + 4)
    }
    return this.#found(three, true, at + 3)
  }
}

/** The value of this many digits, or -1. */
function hex(source: Uint8Array, at: number, digits: number): number {
  let value = 0
  for (let index = at; index < at + digits; index++) {
    const digit = hexValues[source[index]!]!
    if (digit === -1) return -1
    value = value * 16 + digit
  }
  return value
}

function isOctal(unit: number): boolean {
  return unit >= zero && unit < zero + 8
}

/** Writes a character of three or four bytes. */
function writeLong(out: Uint8Array, start: number, point: number): number {
  let at = start
  if (point > 0xffff) {
    out[at++] = 0xf0 | (point >> 18)
    out[at++] = 0x80 | ((point >> 12) & 63)
  } else out[at++] = 0xe0 | (point >> 12)
  out[at++] = 0x80 | ((point >> 6) & 63)
  out[at++] = 0x80 | (point & 63)
  return at
}
