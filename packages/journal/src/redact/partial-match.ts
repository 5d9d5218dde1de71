import type { OpenScan } from './scanner.ts'
import type { EscapedSearch } from './search-unescaped.ts'
import type { Span } from './span.ts'

/** A text whose end may belong to a secret that continues in a later value. */
export interface TextPart {
  readonly text: string
  /** They may overlap. */
  readonly spans: Span[]
  /** The open match at its end; undefined if all spans of the text are final. */
  partial: PartialMatch | undefined
}

/** The beginning of a secret's form at the end of the texts of one path. */
export interface PartialMatch {
  readonly text: string
  readonly scanner: EscapedSearch
  /** The uncommitted texts that contain parts of it; `at` is the offset of a text relative to `text`. */
  parts: readonly { readonly textPart: TextPart; readonly at: number }[]
  /** Whether its already committed part ends with a marker. */
  endsWithMarker: boolean
}

/**
 * Continues a partial match with the next text, given the scan of both together: complete matches become spans of
 * the texts, and an open match becomes the new partial match.
 */
export function extendPartial(
  partial: PartialMatch | undefined,
  textPart: TextPart,
  scanner: EscapedSearch,
  { spans, pending, hold }: OpenScan,
): PartialMatch | undefined {
  const before = partial?.text ?? ''
  const parts = [...(partial?.parts ?? []), { textPart, at: before.length }]
  const endsWithMarker = partial?.endsWithMarker ?? false
  for (const span of spans) maskSpan({ parts, endsWithMarker }, span)
  for (const part of parts) part.textPart.partial = undefined
  const text = (before + textPart.text).slice(pending)
  if (!hold) return committedPartial(text, scanner)
  const open = parts
    .map((part) => ({ textPart: part.textPart, at: part.at - pending }))
    .filter((part) => part.at + part.textPart.text.length > 0)
  const next: PartialMatch = { text, scanner, parts: open, endsWithMarker }
  for (const part of open) part.textPart.partial = next
  return next
}

/** A partial match whose texts are all committed. */
export function committedPartial(text: string, scanner: EscapedSearch): PartialMatch | undefined {
  return text === '' ? undefined : { text, scanner, parts: [], endsWithMarker: false }
}

/** Ends a match that is still open, because its texts are about to be committed: masks it if enough of the form is there. */
export function resolvePartial({ text, scanner, parts, endsWithMarker }: PartialMatch): void {
  for (const span of scanner.cut(text)) maskSpan({ parts, endsWithMarker }, span)
}

/** Ends an open match that no text can continue. */
export function closePartial(partial: PartialMatch): void {
  resolvePartial(partial)
  for (const { textPart } of partial.parts) textPart.partial = undefined
}

/** Removes a committed text from its partial match. */
export function detachPart(textPart: TextPart): void {
  const { partial } = textPart
  if (partial === undefined) return
  partial.parts = partial.parts.filter((part) => part.textPart !== textPart)
  partial.endsWithMarker = textPart.spans.some(({ end }) => end === textPart.text.length)
  textPart.partial = undefined
}

/** Puts the marker at the first uncommitted part of the secret and removes the rest. */
function maskSpan(
  { parts, endsWithMarker }: Pick<PartialMatch, 'parts' | 'endsWithMarker'>,
  span: Span,
): void {
  const startsBeforeParts = span.start < (parts[0]?.at ?? 0)
  let name = startsBeforeParts && endsWithMarker ? '' : span.name
  for (const { textPart, at } of parts) {
    const start = Math.max(span.start - at, 0)
    const end = Math.min(span.end - at, textPart.text.length)
    if (start >= end) continue
    textPart.spans.push({ start, end, name })
    name = ''
  }
}
