import { EscapeReader, longestEscape, type Reading, readings } from './escape-reader.ts'
import { type Encoding, keptBeside, mayHideGram, type Unescaped, unescapeAs } from './escapes.ts'
import { gramLength } from './grams.ts'
import type { OpenScan, Scanner } from './scanner.ts'
import { decidedSpans, mergeSpans, type Span } from './span.ts'
import { mayHaveEscapes, unfinishedEscape } from './unfinished-escape.ts'

/** Escapes are undone twice, because an escaped text is often escaped again: JSON in JSON, JSON in a URL. */
const levels = 2

export interface EscapedSearch extends Pick<Scanner, 'find' | 'scan' | 'cut' | 'firstCandidate'> {
  /** Whether a text without a candidate may have an escaped secret. */
  mayBeEscaped(text: string): boolean
  /** Where `scan` finds an open form in a text without a candidate; undefined if the text must be scanned. */
  openEnd(text: string): number | undefined
}

type Undone = Pick<Unescaped, 'bytes' | 'sources' | 'source'>

/** A text whose escapes were undone once or more. */
interface Level extends Undone {
  /** Whether the text ended with the beginning of an escape, which `bytes` does not have. */
  readonly isCut: boolean
}

/**
 * Searches a text as it is and with its escapes undone, so that every spelling of a secret is found, partly escaped
 * and mixed ones too. `bytes` searches texts of one character per byte.
 */
export function searchUnescaped(plain: Scanner, bytes: Scanner, encoding: Encoding): EscapedSearch {
  /** Every level of every reading of a text. */
  function* levelsOf(text: string, endOf: (text: string) => number): Generator<Level> {
    const seen = { hasEcho: false, hasHigh: false }
    for (const reading of readings) {
      if (!isNeeded(reading, seen)) continue
      let current = text
      let outer: Undone | undefined
      for (let level = 0; level < levels && mayHaveEscapes(current); level++) {
        const end = endOf(current)
        const inner = unescapeAs(level === 0 ? encoding : 'latin1', current, end, reading)
        if (inner === undefined) break
        seen.hasEcho ||= inner.hasEcho
        seen.hasHigh ||= inner.hasHigh
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
    return { spans: hold ? decidedSpans(spans, pending) : spans, pending, hold }
  }

  /** Only grams that touch an escape are new: all others are candidates of the plain text too. */
  function isGramHidden(whole: string): boolean {
    const text = aroundEscapes(whole)
    const seen = { hasEcho: false, hasHigh: false }
    for (const reading of readings) {
      if (!isNeeded(reading, seen)) continue
      const reader = new EscapeReader(reading)
      if (mayHideGram(text, encoding, reader, bytes.filter, levels)) return true
      seen.hasEcho ||= reader.hasEcho
      seen.hasHigh ||= reader.hasHigh
    }
    return false
  }

  /**
   * Where a form may start that only the escapes at the end of the text show, and that is too short for the filter.
   * Undefined if the text must be scanned.
   */
  function escapedTail(text: string): number | undefined {
    const start = tailStart(text)
    const undone = [...levelsOf(text.slice(start), unfinishedEscape)]
    if (start === 0 || undone.every((level) => level.bytes.length >= tailLength))
      return openEndOf(text, start, undone)
    return openEndOf(text, 0, levelsOf(text, unfinishedEscape))
  }

  function openEndOf(text: string, start: number, all: Iterable<Level>): number | undefined {
    let open = unfinishedEscape(text)
    for (const { bytes: undone, isCut, source } of all) {
      // A few characters before an unfinished escape may be too short for the filter of texts, and long enough as bytes.
      if (isCut && bytes.firstCandidate(undone.slice(-longestShortText)) !== -1) return undefined
      const pending = bytes.shortTail(undone)
      if (pending < undone.length || isCut) open = Math.min(open, start + source(pending))
    }
    return open
  }

  return {
    find: (text, from) => merged(text, plain.find(text, from), wholeLength, bytes.find),
    cut: (text) => merged(text, plain.cut(text), unfinishedEscape, bytes.cut),
    scan,
    firstCandidate: plain.firstCandidate,
    mayBeEscaped: (text) => !plain.isEmpty && mayHaveEscapes(text) && isGramHidden(text),
    openEnd(text) {
      if (plain.isEmpty) return text.length
      if (!mayHaveEscapes(text)) return plain.shortTail(text)
      const end = isGramHidden(text) ? undefined : escapedTail(text)
      return end && Math.min(plain.shortTail(text), end)
    },
  }
}

function isNeeded({ octal, high }: Reading, seen: Pick<Unescaped, 'hasEcho' | 'hasHigh'>): boolean {
  return (octal === 'c' || seen.hasEcho) && (high === 'byte' || seen.hasHigh)
}

/** The part of a text from its first escape to its last one, and what may belong to them. */
function aroundEscapes(text: string): string {
  const backslash = text.indexOf('\\')
  const percent = text.indexOf('%')
  const first = backslash === -1 || (percent !== -1 && percent < backslash) ? percent : backslash
  const last = Math.max(text.lastIndexOf('\\'), text.lastIndexOf('%'))
  return text.slice(Math.max(0, first - keptBeside), last + longestEscape + keptBeside)
}

/** The beginning of a form that is too short for the filter is not longer, with the gap inside it. */
const tailLength = 80
/** The bytes of a text that is one character shorter than a gram. */
const longestShortText = (gramLength - 1) * 3
const mostSteps = 20

/** An index near the end of a text that is not inside an escape. */
function tailStart(text: string): number {
  let start = text.length - tailLength - 16
  for (let step = 0; step < mostSteps && start > 0; step++) {
    const sign = Math.max(text.lastIndexOf('\\', start), text.lastIndexOf('%', start))
    if (start - sign > 16) return start
    start = sign - 1
  }
  return 0
}

function wholeLength(text: string): number {
  return text.length
}

function chain(outer: Undone, inner: Undone): Undone {
  return {
    bytes: inner.bytes,
    sources: (spans) => outer.sources(inner.sources(spans)),
    source: (index) => outer.source(inner.source(index)),
  }
}
