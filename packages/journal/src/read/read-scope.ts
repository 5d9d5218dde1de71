import { VitrineError } from '@vitrine/protocol'
import type { JournalHead } from '../stores/contract.ts'
import type { Wakeup } from '../wakeup.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'

/** The events that a reader covers: one journal by `seq`, or the whole store by commit position. */
export interface ReadScope {
  /** Null for the whole store. */
  readonly journal: string | null
  readonly wakeup: Wakeup
  /** The newest key: `seq` or commit position. */
  end(): Promise<number>
  cursor(key: number): string
  /** The key in a cursor. Rejects a cursor of another scope. */
  key(cursor: string): Promise<number>
}

/** The scope of one journal. */
export function journalScope(id: string, wakeup: Wakeup, head: () => Promise<JournalHead>): ReadScope {
  let incarnation = ''
  const load = async () => {
    const known = await head()
    incarnation = known.incarnation
    return known
  }
  return {
    journal: id,
    wakeup,
    async end() {
      return (await load()).seq
    },
    cursor: (seq) => encodeCursor({ scope: 'journal', journal: id, incarnation, seq }),
    async key(cursor) {
      const decoded = decodeCursor(cursor)
      const { seq, incarnation: mine } = await load()
      const isMine =
        decoded.scope === 'journal' &&
        decoded.journal === id &&
        (decoded.incarnation === mine || decoded.seq === 0)
      if (!isMine)
        throw new VitrineError('cursor_foreign', `The cursor does not belong to the journal ${id}.`)
      if (decoded.seq > seq) {
        throw new VitrineError(
          'cursor_ahead',
          `The cursor is at ${decoded.seq}, but the journal ${id} ends at ${seq}.`,
        )
      }
      return decoded.seq
    },
  }
}

/** The scope of a whole store. */
export function storeScope(store: string, wakeup: Wakeup, lastPosition: () => Promise<number>): ReadScope {
  return {
    journal: null,
    wakeup,
    end: lastPosition,
    cursor: (position) => encodeCursor({ scope: 'store', store, position }),
    async key(cursor) {
      const decoded = decodeCursor(cursor)
      if (decoded.scope !== 'store' || decoded.store !== store) {
        throw new VitrineError('cursor_foreign', `The cursor does not belong to the store ${store}.`)
      }
      const last = await lastPosition()
      if (decoded.position > last) {
        throw new VitrineError(
          'cursor_ahead',
          `The cursor is at ${decoded.position}, but the store ends at ${last}.`,
        )
      }
      return decoded.position
    },
  }
}
