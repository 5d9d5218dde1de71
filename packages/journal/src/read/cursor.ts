import { hash } from 'node:crypto'
import { VitrineError } from '@vitrine/protocol'
import { parseItemCursor, parseItemCursorOfAll } from '@vitrine/protocol/primitives'

/** A reader's position: in one journal by `seq`, or in the whole store by commit position. */
type StoreCursorPosition =
  | {
      readonly scope: 'journal'
      readonly journal: string
      readonly incarnation: string
      readonly seq: number
    }
  | { readonly scope: 'store'; readonly store: string; readonly position: number }

/** An item's cursor was made by a client, from the item alone. */
export type CursorPosition =
  | StoreCursorPosition
  | ({ readonly scope: 'item' | 'item-of-all' } & NonNullable<ReturnType<typeof parseItemCursor>>)

/** A store's cursors are opaque: only this file knows their format. */
export function encodeCursor(decoded: StoreCursorPosition): string {
  const text =
    decoded.scope === 'journal'
      ? `j.${decoded.incarnation}.${decoded.seq.toString(36)}.${decoded.journal}`
      : `s.${decoded.store}.${decoded.position.toString(36)}`
  return Buffer.from(text + checksum(text)).toString('base64url')
}

const checksumLength = 6

/** Detects truncated or edited cursors, which would point elsewhere. It is no protection against forgery. */
function checksum(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, checksumLength)
}

export function decodeCursor(cursor: string): CursorPosition {
  const given = typeof cursor === 'string' ? cursor : ''
  const item = parseItemCursor(given)
  if (item !== undefined) return { scope: 'item', ...item }
  const ofAll = parseItemCursorOfAll(given)
  if (ofAll !== undefined) return { scope: 'item-of-all', ...ofAll }
  if (typeof cursor === 'string' && /^[A-Za-z0-9_-]{1,512}$/.test(cursor)) {
    const text = Buffer.from(cursor, 'base64url').toString('utf8').slice(0, -checksumLength)
    const journal = /^j\.([A-Za-z0-9_-]+)\.([0-9a-z]{1,11})\.(.+)$/.exec(text)
    if (journal) {
      const [, incarnation = '', seq = '', id = ''] = journal
      const decoded = { scope: 'journal', journal: id, incarnation, seq: number(seq, cursor) } as const
      if (encodeCursor(decoded) === cursor) return decoded
    }
    const store = /^s\.([A-Za-z0-9_]+)\.([0-9a-z]{1,11})$/.exec(text)
    if (store) {
      const [, id = '', position = ''] = store
      const decoded = { scope: 'store', store: id, position: number(position, cursor) } as const
      if (encodeCursor(decoded) === cursor) return decoded
    }
  }
  throw invalidCursorError(cursor)
}

function number(text: string, cursor: string): number {
  const value = Number.parseInt(text, 36)
  if (!Number.isSafeInteger(value)) throw invalidCursorError(cursor)
  return value
}

function invalidCursorError(cursor: unknown): VitrineError {
  const got = typeof cursor === 'string' ? JSON.stringify(cursor.slice(0, 40)) : typeof cursor
  return new VitrineError('cursor_invalid', `Expected a cursor of this store, got ${got}.`)
}
