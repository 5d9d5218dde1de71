import type { Cursor } from './cursor.ts'
import type { Redirection, SimpleCommand } from './script.ts'

export type Dialect = 'bash' | 'posix'

export interface HereDocument {
  readonly redirection: Redirection
  readonly delimiter: string
  readonly expands: boolean
  readonly tabs: 'kept' | 'stripped'
}

/** The commands and doubts found so far, shared by all levels of nesting. */
interface Findings {
  readonly commands: SimpleCommand[]
  readonly doubts: Set<string>
  lost: boolean
}

/** A script being read, at one level of nesting. */
export interface Reading {
  readonly cursor: Cursor
  readonly dialect: Dialect
  readonly depth: number
  readonly found: Findings
  /** Here-documents whose lines begin after the next newline. */
  readonly pending: HereDocument[]
  /** Where an outer level waits for its here-documents, shells disagree on whose newline comes first. */
  readonly outerPending: boolean
}

export const maxDepth = 50

export function startReading(cursor: Cursor, dialect: Dialect): Reading {
  return {
    cursor,
    dialect,
    depth: 0,
    found: { commands: [], doubts: new Set(), lost: false },
    pending: [],
    outerPending: false,
  }
}

/** The reading goes on: what stands behind a doubt may still be denied. */
export function doubt({ found }: Reading, reason: string): void {
  found.doubts.add(reason)
}

/** As `doubt`, and what is read from here on may be no command at all. */
export function lose(reading: Reading, reason: string): void {
  doubt(reading, reason)
  reading.found.lost = true
}

/** Reads one level deeper, on the same text or on another. */
export function deeper(
  reading: Reading,
  read: (inner: Reading) => void,
  cursor: Cursor = reading.cursor,
): void {
  const depth = reading.depth + 1
  if (depth > maxDepth) {
    lose(reading, `it is nested more than ${maxDepth} deep`)
    reading.cursor.toEnd()
    return
  }
  const outerPending = reading.outerPending || reading.pending.length > 0
  const inner: Reading = { ...reading, cursor, depth, pending: [], outerPending }
  read(inner)
  if (inner.pending.length > 0) lose(inner, 'a here-document has no lines')
}
