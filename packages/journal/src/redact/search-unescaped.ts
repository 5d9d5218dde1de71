import {
  hasEchoEscape,
  mayHaveEscapes,
  type Octal,
  type Unescaped,
  unescapeBytes,
  unfinishedEscape,
} from './escapes.ts'
import type { OpenScan, Scanner, SecretSearch } from './scanner.ts'
import { mergeSpans, type Span } from './span.ts'

/** Escapes are undone twice, because an escaped text is often escaped again: JSON in JSON, JSON in a URL. */
const levels = 2

export interface EscapedSearch extends SecretSearch {
  /** The first index where a secret that is not escaped may start, or -1. */
  firstCandidate(text: string): number
  /** Whether a text may have an escaped secret, which the filter does not find. */
  mayFindEscaped(text: string): boolean
}

type Unescape = (text: string, end: number, octal: Octal) => Unescaped | undefined

/** A text whose escapes were undone once or more. */
interface Level extends Unescaped {
  /** Whether the text ended with the beginning of an escape, which `bytes` does not have. */
  readonly isCut: boolean
}

/**
 * Searches a text as it is and with its escapes undone, so that every spelling of a secret is found, partly escaped
 * and mixed ones too. `bytes` searches texts of one character per byte.
 */
export function searchUnescaped(plain: Scanner, bytes: Scanner, unescapeFirst: Unescape): EscapedSearch {
  /** Every level of every reading of a text. */
  function* levelsOf(text: string, endOf: (text: string) => number): Generator<Level> {
    let hasTwoReadings = false
    for (const octal of ['c', 'echo'] as const) {
      if (octal === 'echo' && !hasTwoReadings) return
      let current = text
      let outer: Unescaped | undefined
      for (let level = 0; level < levels && mayHaveEscapes(current); level++) {
        hasTwoReadings ||= hasEchoEscape(current)
        const end = endOf(current)
        const inner = (level === 0 ? unescapeFirst : unescapeBytes)(current, end, octal)
        if (inner === undefined) break
        outer = outer === undefined ? inner : chain(outer, inner)
        yield { ...outer, isCut: end < current.length }
        current = inner.bytes
      }
    }
  }

  function merged(
    text: string,
    plainSpans: readonly Span[],
    endOf: (text: string) => number,
    search: (bytes: string) => readonly Span[],
  ): readonly Span[] {
    let spans = plainSpans
    if (plain.isEmpty || !mayHaveEscapes(text)) return spans
    for (const level of levelsOf(text, endOf)) {
      const found = search(level.bytes)
      if (found.length > 0) spans = mergeSpans(spans, level.sources(found))
    }
    return spans
  }

  function scan(text: string, from?: number): OpenScan {
    let { spans, pending, hold } = plain.scan(text, from)
    if (plain.isEmpty || !mayHaveEscapes(text)) return { spans, pending, hold }
    pending = Math.min(pending, unfinishedEscape(text))
    for (const level of levelsOf(text, unfinishedEscape)) {
      const found = bytes.scan(level.bytes)
      if (found.spans.length > 0) spans = mergeSpans(spans, level.sources(found.spans))
      if (found.pending < level.bytes.length || level.isCut)
        pending = Math.min(pending, level.source(found.pending))
      hold ||= found.hold
    }
    return decided(spans, pending, hold)
  }

  return {
    find: (text, from) => merged(text, plain.find(text, from), wholeLength, bytes.find),
    cut: (text) => merged(text, plain.cut(text), unfinishedEscape, bytes.cut),
    scan,
    firstCandidate: plain.firstCandidate,
    shortTail: (text) => plain.shortTail(text),
    mayFindEscaped: (text) => !plain.isEmpty && mayHaveEscapes(text),
  }
}

/** Leaves out the spans that a continuation may change: the next scan finds them again. */
function decided(spans: readonly Span[], pending: number, hold: boolean): OpenScan {
  const across = spans.find((span) => span.start < pending && span.end > pending)
  const first = across?.start ?? pending
  return {
    spans: spans.filter((span) => span.end <= first),
    pending: first,
    hold: hold || across !== undefined || spans.some((span) => span.start >= first),
  }
}

function wholeLength(text: string): number {
  return text.length
}

function chain(outer: Unescaped, inner: Unescaped): Unescaped {
  return {
    bytes: inner.bytes,
    sources: (spans) => outer.sources(inner.sources(spans)),
    source: (index) => outer.source(inner.source(index)),
  }
}
