import { isGap, type JournalEvent, type LastTurn, type Moment, type SessionActivity } from '@vitrine/protocol'
import { requireWholeNumber } from '@vitrine/protocol/primitives'
import { type CopyOnWrite, copyOnWrite } from '../copy-on-write.ts'
import { gapMayContain } from '../gaps.ts'
import type { View } from '../view.ts'
import { type WideTable, wideEntryOf, wideValuesOf, withoutWideEntry, withWideEntry } from '../wide-table.ts'
import { closedSession, newSession, withEvent } from './session-events.ts'

/** One session. Without `createdAt` the event of its start is missing. */
export interface ListedSession {
  readonly id: string
  readonly state: 'open' | 'closed'
  readonly agent?: string
  readonly title?: string
  readonly cwd?: string
  /** The agent's id for this session. */
  readonly agentSession?: string
  readonly createdAt?: Moment
  /** Turns that were started. */
  readonly turns: number
  /** The newest turn that ended. */
  readonly lastTurn?: LastTurn
  readonly activity: SessionActivity
}

/** Every known session. Read it with `listSessions`. */
export interface SessionList {
  readonly sessions: WideTable<ListedSession>
  /** Ids of closed sessions in the order they were closed. */
  readonly closed: readonly string[]
  /** Number of sessions that were dropped to stay within the limit. */
  readonly dropped: number
  /** False once a gap may have hidden an event of a session. */
  readonly complete: boolean
}

export interface SessionsOptions {
  /** Maximum number of closed sessions, default 1,000. Those that were closed first are dropped first. */
  readonly maxClosed?: number
}

/** The types that `sessionsView` uses: with all events its state is the same. */
export const sessionEventTypes: readonly string[] = [
  'session.*',
  'prompt.*',
  'turn.*',
  'permission.*',
  'question.*',
  'sandbox.stopped',
  'sandbox.destroyed',
  'journal.recovered',
]

/**
 * The sessions of a sandbox's journal, open and closed.
 *
 * @example
 * const list = rebuild(sessionsView(), events)
 * listSessions(list).filter(({ activity }) => activity.waiting.length > 0)
 */
export function sessionsView(options: SessionsOptions = {}): View<SessionList> {
  const maxClosed = requireWholeNumber('maxClosed', options.maxClosed ?? 1_000, 0)
  return {
    empty: { sessions: {}, closed: [], dropped: 0, complete: true },
    add(state, events) {
      const copy = copyOnWrite()
      let list = state
      for (const item of events) {
        if (isGap(item)) {
          if (list.complete && gapMayContain(item, sessionEventTypes)) list = { ...list, complete: false }
        } else if (endsAll(item.type)) {
          for (const session of wideValuesOf(list.sessions))
            if (session.state === 'open') list = withSession(copy, list, closedSession(session), maxClosed)
        } else if (item.session) {
          const known = wideEntryOf(list.sessions, item.session)
          const session = withEvent(known ?? newSession(item.session, item), item)
          if (session !== undefined) list = withSession(copy, list, session, maxClosed)
        }
      }
      return list
    },
  }
}

/**
 * The sessions in the order they were opened; those whose start is missing come first.
 *
 * @example
 * listSessions(list).map(({ title, state }) => `${state} ${title ?? ''}`)
 */
export function listSessions(list: SessionList): ListedSession[] {
  return wideValuesOf(list.sessions).sort(
    (a, b) => (a.createdAt?.seq ?? 0) - (b.createdAt?.seq ?? 0) || (a.id < b.id ? -1 : 1),
  )
}

/** No session is open in a sandbox that stopped, or whose host died, with or without an event of its own. */
function endsAll(type: JournalEvent['type']): boolean {
  return type === 'sandbox.stopped' || type === 'sandbox.destroyed' || type === 'journal.recovered'
}

function withSession(
  copy: CopyOnWrite,
  list: SessionList,
  session: ListedSession,
  maxClosed: number,
): SessionList {
  const { id } = session
  const next = copy(list)
  const before = wideEntryOf(list.sessions, id)
  next.sessions = withWideEntry(copy, list.sessions, id, session)
  if (session.state === 'open') {
    if (before?.state === 'closed') next.closed = list.closed.filter((one) => one !== id)
    return next
  }
  if (before?.state === 'closed') return next
  const closed = copy(list.closed)
  next.closed = closed
  closed.push(id)
  while (closed.length > maxClosed) {
    next.sessions = withoutWideEntry(copy, next.sessions, closed.shift() ?? '')
    next.dropped += 1
  }
  return next
}
