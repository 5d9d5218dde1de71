import type { Cursor } from './cursor.ts'
import type { Redirection, SimpleCommand } from './script.ts'

export type Dialect = 'bash' | 'posix'

export interface HereDocument {
  readonly redirection: Redirection
  readonly delimiter: string
  readonly expands: boolean
  readonly tabs: 'kept' | 'stripped'
}

/** The results so far, shared by all nesting levels. */
interface ParserFindings {
  readonly commands: SimpleCommand[]
  readonly uncertainties: Set<string>
  lost: boolean
}

/** The state of the parser at one nesting level. */
export interface ParserState {
  readonly cursor: Cursor
  readonly dialect: Dialect
  readonly depth: number
  readonly found: ParserFindings
  /** Here-documents whose lines start after the next newline. */
  readonly pending: HereDocument[]
  /** An outer level has pending here-documents: shells differ in which level the next newline belongs to. */
  readonly outerPending: boolean
}

export const maxDepth = 50

export function newParserState(cursor: Cursor, dialect: Dialect): ParserState {
  return {
    cursor,
    dialect,
    depth: 0,
    found: { commands: [], uncertainties: new Set(), lost: false },
    pending: [],
    outerPending: false,
  }
}

/** Adds a reason for uncertainty. Parsing continues, since a later command may still be denied. */
export function addUncertainty({ found }: ParserState, reason: string): void {
  found.uncertainties.add(reason)
}

/** Adds a reason for uncertainty and marks everything parsed from here on as uncertain: it may not be a command at all. */
export function markRestUncertain(state: ParserState, reason: string): void {
  addUncertainty(state, reason)
  state.found.lost = true
}

/** Parses one nesting level deeper, in the same text or in another. */
export function readNested(
  state: ParserState,
  read: (inner: ParserState) => void,
  cursor: Cursor = state.cursor,
): void {
  const depth = state.depth + 1
  if (depth > maxDepth) {
    markRestUncertain(state, `it is nested more than ${maxDepth} deep`)
    state.cursor.toEnd()
    return
  }
  const outerPending = state.outerPending || state.pending.length > 0
  const inner: ParserState = { ...state, cursor, depth, pending: [], outerPending }
  read(inner)
  if (inner.pending.length > 0) markRestUncertain(inner, 'a here-document has no lines')
}
