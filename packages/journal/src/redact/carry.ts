import type { Scanner } from './scanner.ts'
import type { Span } from './span.ts'

/** A text of a value that may not be final yet. */
export interface Cell {
  readonly text: string
  readonly spans: Span[]
  /** What its end may be the beginning of; none when all of it is decided. */
  carry: Carry | undefined
}

/** What the texts at one path have ended with so far: the beginning of a form. */
export interface Carry {
  text: string
  scanner: Scanner
  /** The cells not committed yet that hold parts of it; `at` is where a cell's text begins in the carry's. */
  parts: { readonly cell: Cell; readonly at: number }[]
  /** Whether what was committed of it ends with a marker. */
  marked: boolean
}

/**
 * Goes on with a cell's text where the carry stopped: what is decided by it becomes spans of the cells,
 * what is still open becomes the new carry.
 */
export function extend(carry: Carry | undefined, cell: Cell, scanner: Scanner): Carry | undefined {
  const text = carry === undefined ? cell.text : carry.text + cell.text
  const { spans, pending } = scanner.scan(text)
  const next = carry ?? { text: '', scanner, parts: [], marked: false }
  next.scanner = scanner
  next.parts.push({ cell, at: next.text.length })
  for (const span of spans) cover(next, span)
  for (const part of next.parts) part.cell.carry = undefined
  if (pending === text.length) return undefined
  next.text = text.slice(pending)
  next.parts = next.parts
    .map((part) => ({ cell: part.cell, at: part.at - pending }))
    .filter((part) => part.at + part.cell.text.length > 0)
  for (const part of next.parts) part.cell.carry = next
  return next
}

/** Decides by force what nothing has decided: the cells are about to be committed. */
export function settle(carry: Carry): void {
  if (carry.parts.length === 0) return
  for (const span of carry.scanner.cut(carry.text)) cover(carry, span)
}

/** Nothing will go on here: its cells are decided by force. */
export function close(carry: Carry): void {
  settle(carry)
  for (const { cell } of carry.parts) cell.carry = undefined
}

/** A cell is committed: the carry goes on without it. */
export function commit(cell: Cell): void {
  const { carry } = cell
  if (carry === undefined) return
  carry.parts = carry.parts.filter((part) => part.cell !== cell)
  if (cell.text !== '') carry.marked = cell.spans.at(-1)?.end === cell.text.length
  cell.carry = undefined
}

/** The marker goes where the secret begins, or as near to it as is still open; the rest is left out. */
function cover(carry: Carry, span: Span): void {
  const committed = carry.parts[0]?.at ?? carry.text.length
  let name = span.start < committed && carry.marked ? '' : span.name
  for (const { cell, at } of carry.parts) {
    const start = Math.max(span.start - at, 0)
    const end = Math.min(span.end - at, cell.text.length)
    if (start >= end) continue
    cell.spans.push({ start, end, name })
    name = ''
  }
}
