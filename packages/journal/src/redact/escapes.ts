import {
  backslash,
  EscapeReader,
  firstReading,
  longestEscape,
  percent,
  type Reading,
} from './escape-reader.ts'
import type { GramFilter } from './grams.ts'
import { locateBytes } from './locate-bytes.ts'
import type { Span } from './span.ts'

/**
 * A text whose escapes are undone, in any mixture. The result has one character per byte of UTF-8, because an escape
 * may stand for a byte or for a character.
 *
 * @example
 * unescapeText('p%C3%A4ss\\u0077ord').bytes // 'p\xc3\xa4ssword'
 */
export interface Unescaped {
  readonly bytes: string
  /** Whether it has escapes with another reading. */
  readonly hasEcho: boolean
  readonly hasHigh: boolean
  /** Where these ranges of `bytes`, in order, were in the text. */
  sources(spans: readonly Span[]): Span[]
  /** Where this index of `bytes` was in the text. */
  source(index: number): number
}

/** A text has one character per byte, or its bytes are those of UTF-8. */
export type Encoding = 'utf8' | 'latin1'

/** Undoes the escapes of a text up to `end`. Returns undefined if that is the text itself. */
export function unescapeText(
  text: string,
  end: number = text.length,
  reading: Reading = firstReading,
): Unescaped | undefined {
  return unescapeAs('utf8', text, end, reading)
}

/** The same for a text that has one character per byte. */
export function unescapeBytes(
  text: string,
  end: number = text.length,
  reading: Reading = firstReading,
): Unescaped | undefined {
  return unescapeAs('latin1', text, end, reading)
}

/** The same in either encoding. */
export function unescapeAs(
  encoding: Encoding,
  text: string,
  end: number,
  reading: Reading,
): Unescaped | undefined {
  const source = end === text.length ? text : text.slice(0, end)
  const { bytes, asText } = memoryFor(source)
  const length = load({ bytes, asText }, source, encoding)
  const reader = new EscapeReader(reading)
  const size = undoEscapes(bytes, length, reader, length)
  if (size === length && end === text.length) return undefined
  const { hasEcho, hasHigh } = reader
  const sources = (spans: readonly Span[]) => {
    // The memory may have been used for another text meanwhile.
    const again = memoryFor(source)
    return sourcesOf(source, again.bytes, load(again, source, encoding), new EscapeReader(reading), spans)
  }
  return {
    bytes: asText.toString('latin1', 0, size),
    hasEcho,
    hasHigh,
    sources,
    source: (index) => sources([{ start: index, end: index, name: '' }])[0]!.start,
  }
}

/** The bytes of the escape that a text begins with, undefined if there is none, and the rest of the text. */
export function unescapeFirst(
  text: string,
  reading: Reading = firstReading,
): [head: string | undefined, rest: string] {
  const { bytes, asText } = memoryFor(text)
  load({ bytes, asText }, text, 'latin1')
  const reader = new EscapeReader(reading)
  if (!reader.read(bytes, 0)) return [undefined, text]
  return [asText.toString('latin1', 0, reader.write(bytes, 0)), text.slice(reader.stop)]
}

/** So much of the text beside an escape is enough for any escape that it may be a part of, and a gram beside that. */
export const keptBeside = longestEscape + 4

/**
 * Whether a gram of the filter touches an escape of the text that is undone once or `levels` times. Long runs without
 * an escape are left out, so that the time depends on the number of escapes.
 */
export function mayHideGram(
  text: string,
  encoding: Encoding,
  reader: EscapeReader,
  filter: GramFilter,
  levels: number,
): boolean {
  const memory = memoryFor(text)
  const { bytes } = memory
  let length = load(memory, text, encoding)
  for (let level = 0; level < levels; level++) {
    const size = undoEscapes(bytes, length, reader, keptBeside)
    if (size === length) return false
    if (filter.isIn(bytes, size)) return true
    terminate(bytes, size)
    length = size
  }
  return false
}

/** Memory for the bytes of a text. Reading a Buffer's elements in places that also read others is slow. */
interface Memory {
  readonly bytes: Uint8Array
  readonly asText: Buffer
}

const scratch = memoryOf(64 * 1024)

function memoryOf(size: number): Memory {
  const bytes = new Uint8Array(size)
  return { bytes, asText: Buffer.from(bytes.buffer) }
}

function memoryFor(text: string): Memory {
  const isShort = text.length * 3 + longestEscape <= scratch.bytes.length
  return isShort ? scratch : memoryOf(Buffer.byteLength(text) + longestEscape)
}

function load({ bytes, asText }: Memory, text: string, encoding: Encoding): number {
  const length = asText.write(text, encoding)
  terminate(bytes, length)
  return length
}

/** Writes the zeros after a text that a reader needs. */
function terminate(bytes: Uint8Array, length: number): void {
  for (let at = length; at < length + longestEscape; at++) bytes[at] = 0
}

/**
 * Undoes escapes in place and returns the new length; the same length if there were none. Of the text between escapes,
 * no more than `kept` bytes beside each of them remain.
 */
function undoEscapes(bytes: Uint8Array, length: number, reader: EscapeReader, kept: number): number {
  let size = 0
  let last = 0
  let at = nextSign(bytes, 0, length)
  while (at < length) {
    if (reader.read(bytes, at)) {
      size = reader.write(bytes, copyRun(bytes, last, at, size, kept))
      last = reader.stop
      at = nextSign(bytes, last, length)
    } else at = nextSign(bytes, at + 1, length)
  }
  return last === 0 ? length : copyRun(bytes, last, length, size, kept)
}

function nextSign(bytes: Uint8Array, from: number, length: number): number {
  let at = from
  while (at < length && bytes[at] !== backslash && bytes[at] !== percent) at++
  return at
}

function copyRun(bytes: Uint8Array, from: number, to: number, size: number, kept: number): number {
  if (to - from <= kept * 2) return copy(bytes, from, to, size)
  const gap = copy(bytes, from, from + kept, size)
  // A byte that belongs to no escape, so that both ends do not make one.
  bytes[gap] = 0
  return copy(bytes, to - kept, to, gap + 1)
}

const longRun = 64

function copy(bytes: Uint8Array, from: number, to: number, size: number): number {
  if (to - from > longRun) bytes.copyWithin(size, from, to)
  else for (let at = from; at < to; at++) bytes[size + at - from] = bytes[at]!
  return size + to - from
}

/** Reads the escapes again instead of keeping a map, which would be larger than the text. */
function sourcesOf(
  text: string,
  bytes: Uint8Array,
  length: number,
  reader: EscapeReader,
  spans: readonly Span[],
): Span[] {
  const inText = locateBytes(text, length)
  const written = new Uint8Array(4)
  let last = 0
  let next = 0
  // The range of the last escape that was read, and that of its bytes in the result.
  let start = 0
  let stop = 0
  let from = 0
  let to = 0
  let startInText: number | undefined
  const advance = (): void => {
    last = stop
    next = to
    startInText = undefined
    start = nextSign(bytes, stop, length)
    while (start < length && !reader.read(bytes, start)) start = nextSign(bytes, start + 1, length)
    stop = start < length ? reader.stop : length
    from = next + start - last
    to = start < length ? reader.write(written, 0) + from : from
  }
  advance()
  const locate = (byte: number, edge: 'start' | 'end'): number => {
    while (start < length && (byte > to || (byte === to && edge === 'start'))) advance()
    if (byte < from || (byte === from && edge === 'end')) return inText(last + byte - next, edge)
    startInText ??= inText(start, 'start')
    return edge === 'start' ? startInText : inText(stop, edge)
  }
  return spans.map((span) => {
    const first = locate(span.start, 'start')
    return { start: first, end: span.end === span.start ? first : locate(span.end, 'end'), name: span.name }
  })
}
