import type { Span } from './span.ts'

/**
 * Undoes `%XX`, `%uXXXX`, `\xXX`, `\uXXXX`, `\n` and octal escapes in a text, in any mixture. The result has one character per
 * byte of UTF-8, because an escape may stand for a byte or for a character.
 *
 * @example
 * unescapeText('p%C3%A4ss\\u0077ord').bytes // 'p\xc3\xa4ssword'
 */
export interface Unescaped {
  readonly bytes: string
  /** Where these ranges of `bytes`, in order, were in the text. */
  sources(spans: readonly Span[]): Span[]
  /** Where this index of `bytes` was in the text. */
  source(index: number): number
}

/** How octal escapes are read: with up to three digits as in C, or with three after a zero as `echo -e` does. */
export type Octal = 'c' | 'echo'

/** An escape of several characters; the two of a surrogate pair are one. */
const longEscapes: Readonly<Record<Octal, RegExp>> = {
  c: /%(?:[\da-fA-F]{2}|u[dD][89abAB][\da-fA-F]{2}%u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4})|\\(?:U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|u\{[\da-fA-F]{1,6}\}|x[\da-fA-F]{2}|[0-3][0-7]{2}|[0-7]{1,2})/y,
  echo: /%(?:[\da-fA-F]{2}|u[dD][89abAB][\da-fA-F]{2}%u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4})|\\(?:U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|u\{[\da-fA-F]{1,6}\}|x[\da-fA-F]{2}|0[0-3][0-7]{2}|[0-3][0-7]{2}|[0-7]{1,2})/y,
}
const echoEscape = /\\0[0-3][0-7]{2}/
/** The beginning of an escape at the end of a text. */
const unfinished =
  /(?:%(?:[\da-fA-F]|u[dD][89abAB][\da-fA-F]{2}(?:%(?:u(?:[dD](?:[c-fC-F][\da-fA-F]?)?)?)?)?|u[\da-fA-F]{0,3})?|\\(?:U[\da-fA-F]{0,7}|u[dD][89abAB][\da-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][\da-fA-F]?)?)?)?)?|u[\da-fA-F]{0,3}|u\{[\da-fA-F]{0,6}|x[\da-fA-F]?|0[0-3][0-7]|[0-3][0-7]?|[4-7])?)$/
const longestEscape = 12
const backslash = 92

/** The bytes of the escapes that are a backslash and one character: a letter, a sign, the end of a line. */
const shortEscapes: (string | undefined)[] = []
for (const sign of ' !"#$&\'()*+,-./:;<=>?@[\\]^_`{|}~\r\n') shortEscapes[sign.charCodeAt(0)] = sign
for (const [letter, byte] of Object.entries({
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}))
  shortEscapes[letter.charCodeAt(0)] = byte

/** Whether a text may contain an escape or end with the beginning of one. A percentage is none. */
export function mayHaveEscapes(text: string): boolean {
  for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', at + 1))
    if (at + 1 === text.length || isHexDigit(text.charCodeAt(at + 1)) || text[at + 1] === 'u') return true
  return text.includes('\\')
}

/** Whether the octal escapes of a text have two readings. */
export function hasEchoEscape(text: string): boolean {
  return text.includes('\\0') && echoEscape.test(text)
}

function isHexDigit(unit: number): boolean {
  const letter = unit | 32
  return (unit >= 48 && unit <= 57) || (letter >= 97 && letter <= 102)
}

/** Undoes the escapes of a text up to `end`. Returns undefined if that is the text itself. */
export function unescapeText(
  text: string,
  end: number = text.length,
  octal: Octal = 'c',
): Unescaped | undefined {
  return unescapeWith({ text, end, octal, toBytes: utf8 })
}

/** The same for a text that has one character per byte. */
export function unescapeBytes(
  text: string,
  end: number = text.length,
  octal: Octal = 'c',
): Unescaped | undefined {
  return unescapeWith({ text, end, octal, toBytes: itself })
}

function itself(raw: string): string {
  return raw
}

/** The bytes of the escape that a text begins with, undefined if there is none, and the rest of the text. */
export function unescapeFirst(text: string): [head: string | undefined, rest: string] {
  const stop = escapeEnd(text, 0)
  return stop === 1 ? [undefined, text] : [unescaped(text, 0, stop), text.slice(stop)]
}

/**
 * The index where the beginning of an escape starts that reaches the end of the text, or the text's length. The first
 * half of a surrogate pair is one too: only both together have bytes.
 */
export function unfinishedEscape(text: string): number {
  if (isHighSurrogate(text.charCodeAt(text.length - 1))) return text.length - 1
  const tail = text.slice(-longestEscape)
  const found = unfinished.exec(tail)
  if (found === null) return text.length
  const at = text.length - tail.length + found.index
  return text[at] === '\\' && isEscaped(text, at) ? text.length : at
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Whether a backslash is the second half of `\\`. */
function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first--
  return (at - first) % 2 === 1
}

/** A text whose escapes up to `end` are undone, in one reading. */
interface Escaped {
  readonly text: string
  readonly end: number
  readonly octal: Octal
  /** The bytes of text without escapes. */
  toBytes(raw: string): string
}

function unescapeWith(escaped: Escaped): Unescaped | undefined {
  const { text, end, toBytes } = escaped
  const escapes = new EscapeReader(escaped)
  let bytes = ''
  let last = 0
  while (escapes.next()) {
    const { start, stop } = escapes
    if (start > last) bytes += toBytes(text.slice(last, start))
    bytes += unescaped(text, start, stop)
    last = stop
  }
  if (last === 0 && end === text.length) return undefined
  if (end > last) bytes += toBytes(text.slice(last, end))
  const sources = (spans: readonly Span[]) => sourcesOf(segmentsOf(escaped), spans, end)
  return { bytes, sources, source: (index) => sources([{ start: index, end: index, name: '' }])[0]!.start }
}

/** Reads the escapes of a text from left to right: `start` and `stop` are the range of the last one. */
class EscapeReader {
  start = 0
  stop = 0
  readonly #text: string
  readonly #end: number
  readonly #octal: Octal
  #backslash: number
  #percent: number

  constructor({ text, end, octal }: Escaped) {
    this.#text = text
    this.#end = end
    this.#octal = octal
    this.#backslash = text.indexOf('\\')
    this.#percent = text.indexOf('%')
  }

  /** Looks at every backslash and percent sign only: these are found much faster than an expression. */
  next(): boolean {
    const text = this.#text
    while (this.#backslash !== -1 || this.#percent !== -1) {
      const isPercent = this.#backslash === -1 || (this.#percent !== -1 && this.#percent < this.#backslash)
      const start = isPercent ? this.#percent : this.#backslash
      const stop = escapeEnd(text, start, this.#octal)
      if (stop > this.#end) return false
      if (this.#backslash !== -1 && this.#backslash < stop) this.#backslash = text.indexOf('\\', stop)
      if (this.#percent !== -1 && this.#percent < stop) this.#percent = text.indexOf('%', stop)
      if (stop === start + 1) continue
      this.start = start
      this.stop = stop
      return true
    }
    return false
  }
}

/** The index after the escape that starts at a backslash or percent sign, or after the sign if there is none. */
export function escapeEnd(text: string, start: number, octal: Octal = 'c'): number {
  if (text.charCodeAt(start) === backslash && shortEscapes[text.charCodeAt(start + 1)] !== undefined)
    return start + 2
  const longEscape = longEscapes[octal]
  longEscape.lastIndex = start
  return longEscape.test(text) ? longEscape.lastIndex : start + 1
}

/** An escape, or the text between two of them. */
interface Segment {
  readonly start: number
  readonly stop: number
  readonly bytes: string
  /** The index in the text of a byte. Bytes are located in ascending order. */
  locate(byte: number, edge: Edge): number
}

type Edge = 'start' | 'end'

function* segmentsOf(escaped: Escaped): Generator<Segment> {
  const { text, end, toBytes } = escaped
  const escapes = new EscapeReader(escaped)
  let last = 0
  while (escapes.next()) {
    const { start, stop } = escapes
    if (start > last) yield rawSegment(text, last, start, toBytes)
    const locate = (_: number, edge: Edge) => (edge === 'start' ? start : stop)
    yield { start, stop, bytes: unescaped(text, start, stop), locate }
    last = stop
  }
  if (end > last) yield rawSegment(text, last, end, toBytes)
}

function rawSegment(text: string, start: number, stop: number, toBytes: Escaped['toBytes']): Segment {
  const bytes = toBytes(text.slice(start, stop))
  const hasOneBytePerUnit = bytes.length === stop - start
  const locate = hasOneBytePerUnit ? (byte: number) => start + byte : forwardLocator(text, start, stop)
  return { start, stop, bytes, locate }
}

/** Finds bytes in ascending order: each search continues where the last one ended. */
function forwardLocator(text: string, start: number, stop: number): Segment['locate'] {
  let at = start
  let bytes = 0
  return (byte, edge) => {
    while (at < stop) {
      const point = text.codePointAt(at)!
      const next = at + (point > 0xffff ? 2 : 1)
      const length = utf8Length(point)
      if (bytes + length > byte) return bytes < byte && edge === 'end' ? next : at
      bytes += length
      at = next
    }
    return at
  }
}

function utf8Length(point: number): number {
  if (point < 0x80) return 1
  if (point < 0x800) return 2
  return point > 0xffff ? 4 : 3
}

/** Walks the segments again instead of keeping a map, which would be larger than the text. */
function sourcesOf(segments: Iterator<Segment>, spans: readonly Span[], end: number): Span[] {
  let segment = nextOf(segments)
  let from = 0
  const locate = (byte: number, edge: Edge): number => {
    while (segment !== undefined) {
      const left = from + segment.bytes.length - byte
      if (left > 0 || (left === 0 && edge === 'end')) return segment.locate(byte - from, edge)
      from += segment.bytes.length
      segment = nextOf(segments)
    }
    return end
  }
  return spans.map((span) => {
    const start = locate(span.start, 'start')
    return { start, end: span.end === span.start ? start : locate(span.end, 'end'), name: span.name }
  })
}

function nextOf<Item>(items: Iterator<Item>): Item | undefined {
  const step = items.next()
  return step.done ? undefined : step.value
}

function unescaped(text: string, start: number, stop: number): string {
  const short = stop - start === 2 ? shortEscapes[text.charCodeAt(start + 1)] : undefined
  if (short !== undefined) return short
  const found = text.slice(start, stop)
  if (found[0] === '%' && found[1] !== 'u') return String.fromCharCode(Number.parseInt(found.slice(1), 16))
  if (found[1] === 'x') return String.fromCharCode(Number.parseInt(found.slice(2), 16))
  if (found[1] === 'u' || found[1] === 'U') return utf8(unicode(found))
  return String.fromCharCode(Number.parseInt(found.slice(1), 8))
}

function unicode(found: string): string {
  if (found[2] === '{') {
    const point = Number.parseInt(found.slice(3, -1), 16)
    return point > 0x10ffff ? '\ufffd' : String.fromCodePoint(point)
  }
  if (found[1] === 'U') return String.fromCodePoint(Number.parseInt(found.slice(2), 16))
  const units = found.split(/[%\\]u/).slice(1)
  return String.fromCharCode(...units.map((unit) => Number.parseInt(unit, 16)))
}

function utf8(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text, 'utf8').toString('latin1')
}
