import type { OpenScan, Scanner } from './scanner.ts'
import type { Span } from './span.ts'

/** A text of a value that may not be final yet. */
export interface TextPart {
  readonly text: string
  readonly spans: Span[]
  /** What its end may be the beginning of; none when all of it is decided. */
  carry: PartialMatch | undefined
}

/** What the texts at one path have ended with so far: the beginning of a form. */
export interface PartialMatch {
  readonly text: string
  readonly scanner: Scanner
  /** The cells not committed yet that hold parts of it; `at` is where a cell's text begins in the carry's. */
  parts: readonly { readonly cell: TextPart; readonly at: number }[]
  /** Whether what was committed of it ends with a marker. */
  marked: boolean
}

/** A shorter beginning stands at the end of too many texts to wait for: it is only remembered. */
export const shortestHeld = 4

/**
 * Goes on with a cell where the carry stopped, given the scan of both texts together: what it decided
 * becomes spans of the cells, what is still open becomes the new carry.
 */
export function extend(
  carry: PartialMatch | undefined,
  cell: TextPart,
  scanner: Scanner,
  { spans, pending }: OpenScan,
): PartialMatch | undefined {
  const before = carry?.text ?? ''
  const parts = [...(carry?.parts ?? []), { cell, at: before.length }]
  const marked = carry?.marked ?? false
  for (const span of spans) cover(parts, marked, span)
  for (const part of parts) part.cell.carry = undefined
  const text = (before + cell.text).slice(pending)
  if (text.length < shortestHeld) return remembered(text, scanner)
  const open = parts
    .map((part) => ({ cell: part.cell, at: part.at - pending }))
    .filter((part) => part.at + part.cell.text.length > 0)
  const next: PartialMatch = { text, scanner, parts: open, marked }
  for (const part of open) part.cell.carry = next
  return next
}

/** A carry all of which is committed. */
export function remembered(text: string, scanner: Scanner): PartialMatch | undefined {
  return text === '' ? undefined : { text, scanner, parts: [], marked: false }
}

/** Decides by force what nothing has decided: the cells are about to be committed. */
export function decide({ text, scanner, parts, marked }: PartialMatch): void {
  for (const span of scanner.cut(text)) cover(parts, marked, span)
}

/** Nothing will go on here: the cells are decided by force. */
export function close(carry: PartialMatch): void {
  decide(carry)
  for (const { cell } of carry.parts) cell.carry = undefined
}

/** A cell is committed: the carry goes on without it. */
export function commit(cell: TextPart): void {
  const { carry } = cell
  if (carry === undefined) return
  carry.parts = carry.parts.filter((part) => part.cell !== cell)
  carry.marked = cell.spans.at(-1)?.end === cell.text.length
  cell.carry = undefined
}

/** The marker goes where the secret begins, or as near to it as is still open; the rest is left out. */
function cover(parts: PartialMatch['parts'], marked: boolean, span: Span): void {
  const isBegunBefore = span.start < (parts[0]?.at ?? 0)
  let name = isBegunBefore && marked ? '' : span.name
  for (const { cell, at } of parts) {
    const start = Math.max(span.start - at, 0)
    const end = Math.min(span.end - at, cell.text.length)
    if (start >= end) continue
    cell.spans.push({ start, end, name })
    name = ''
  }
}
