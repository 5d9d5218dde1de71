import type { OpenScan, Scanner } from './scanner.ts'
import type { Span } from './span.ts'

/** A text of a value that may not be final yet. */
export interface TextPart {
  readonly text: string
  readonly spans: Span[]
  /** What its end may be the beginning of; none when all of it is decided. */
  partial: PartialMatch | undefined
}

/** What the texts at one path have ended with so far: the beginning of a form. */
export interface PartialMatch {
  readonly text: string
  readonly scanner: Scanner
  /** The cells not committed yet that hold parts of it; `at` is where a cell's text begins in the carry's. */
  parts: readonly { readonly textPart: TextPart; readonly at: number }[]
  /** Whether what was committed of it ends with a marker. */
  endsWithMarker: boolean
}

/** A shorter beginning stands at the end of too many texts to wait for: it is only remembered. */
export const minHeldLength = 4

/**
 * Goes on with a cell where the carry stopped, given the scan of both texts together: what it decided
 * becomes spans of the cells, what is still open becomes the new carry.
 */
export function extendPartial(
  partial: PartialMatch | undefined,
  textPart: TextPart,
  scanner: Scanner,
  { spans, pending }: OpenScan,
): PartialMatch | undefined {
  const before = partial?.text ?? ''
  const parts = [...(partial?.parts ?? []), { textPart, at: before.length }]
  const endsWithMarker = partial?.endsWithMarker ?? false
  for (const span of spans) maskSpan({ parts, endsWithMarker }, span)
  for (const part of parts) part.textPart.partial = undefined
  const text = (before + textPart.text).slice(pending)
  if (text.length < minHeldLength) return committedPartial(text, scanner)
  const open = parts
    .map((part) => ({ textPart: part.textPart, at: part.at - pending }))
    .filter((part) => part.at + part.textPart.text.length > 0)
  const next: PartialMatch = { text, scanner, parts: open, endsWithMarker }
  for (const part of open) part.textPart.partial = next
  return next
}

/** A carry all of which is committed. */
export function committedPartial(text: string, scanner: Scanner): PartialMatch | undefined {
  return text === '' ? undefined : { text, scanner, parts: [], endsWithMarker: false }
}

/** Decides by force what nothing has decided: the cells are about to be committed. */
export function resolvePartial({ text, scanner, parts, endsWithMarker }: PartialMatch): void {
  for (const span of scanner.cut(text)) maskSpan({ parts, endsWithMarker }, span)
}

/** Nothing will go on here: the cells are decided by force. */
export function closePartial(partial: PartialMatch): void {
  resolvePartial(partial)
  for (const { textPart } of partial.parts) textPart.partial = undefined
}

/** A cell is committed: the carry goes on without it. */
export function detachPart(textPart: TextPart): void {
  const { partial } = textPart
  if (partial === undefined) return
  partial.parts = partial.parts.filter((part) => part.textPart !== textPart)
  partial.endsWithMarker = textPart.spans.at(-1)?.end === textPart.text.length
  textPart.partial = undefined
}

/** The marker goes where the secret begins, or as near to it as is still open; the rest is left out. */
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
