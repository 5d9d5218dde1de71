import { VitrineError } from '@vitrine/protocol'
import type { JournalHead, StoreConnection } from '../stores/contract.ts'
import type { Wakeup } from '../wakeup.ts'
import { type CursorPosition, decodeCursor, encodeCursor } from './cursor.ts'

type ItemPosition = Extract<CursorPosition, { time: unknown }>

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

/** The scope of one journal. `connection` has its events, to check the cursors that clients make from them. */
export function journalScope(
  id: string,
  wakeup: Wakeup,
  head: () => Promise<JournalHead>,
  connection: Pick<StoreConnection, 'index' | 'holes'>,
): ReadScope {
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
      if (decoded.scope === 'store' || decoded.scope === 'item-of-all' || decoded.journal !== id)
        throw foreignCursorError(id)
      if (decoded.scope === 'journal' && decoded.incarnation !== mine && decoded.seq !== 0)
        throw foreignCursorError(id)
      assertNotAhead(id, decoded.seq, seq)
      if (decoded.scope === 'item' && !(await hasItem(connection, decoded))) throw foreignCursorError(id)
      return decoded.seq
    },
  }
}

/** Throws `cursor_ahead` if the journal ends before this `seq`: the store may be an older copy. */
export function assertNotAhead(journal: string, seq: number, headSeq: number): void {
  if (seq <= headSeq) return
  throw new VitrineError(
    'cursor_ahead',
    `The cursor is at ${seq}, but the journal ${journal} ends at ${headSeq}.`,
  )
}

function foreignCursorError(journal: string): VitrineError {
  return new VitrineError('cursor_foreign', `The cursor does not belong to the journal ${journal}.`)
}

/** Whether the journal has the item that a client made a cursor of, or a hole where the item was. */
async function hasItem(
  connection: Pick<StoreConnection, 'index' | 'holes'>,
  { journal, seq, time }: ItemPosition,
): Promise<boolean> {
  return (await positionOf(connection, { journal, seq, time })) !== undefined
}

/** The commit position of the item that a client made a cursor of; undefined if there is neither the item nor a hole. */
async function positionOf(
  connection: Pick<StoreConnection, 'index' | 'holes'>,
  { journal, seq, time }: Omit<ItemPosition, 'scope'>,
): Promise<number | undefined> {
  const [found] = await connection.index({ journal, from: seq - 1, to: seq, order: 'asc', limit: 1 })
  if (found !== undefined) return found.time === time ? found.position : undefined
  return (await connection.holes(journal, seq, seq))[0]?.position
}

/** The scope of a whole store. `connection` has its events, to check the cursors that are made from them. */
export function storeScope(
  store: string,
  wakeup: Wakeup,
  lastPosition: () => Promise<number>,
  connection: Pick<StoreConnection, 'index' | 'holes'>,
): ReadScope {
  return {
    journal: null,
    wakeup,
    end: lastPosition,
    cursor: (position) => encodeCursor({ scope: 'store', store, position }),
    async key(cursor) {
      const decoded = decodeCursor(cursor)
      if (decoded.scope === 'item-of-all') {
        const position = await positionOf(connection, decoded)
        if (position !== undefined) return position
        throw new VitrineError('cursor_foreign', `The store ${store} has no such item of ${decoded.journal}.`)
      }
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
