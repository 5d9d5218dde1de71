import type { JournalEvent, SessionActivity } from '@vitrine/protocol'
import { asFields, fieldsIn, omitUndefined, outcomeIn } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { nameIn } from '../transcript/bounded.ts'
import { contextOf } from '../transcript/usage.ts'
import type { ListedSession } from './sessions-view.ts'
import { withTurnSpending } from './spending.ts'
import { withoutQueued, withQueued, withRequest } from './waiting.ts'

export function newSession(id: string, event: JournalEvent): ListedSession {
  return { id, state: 'open', turns: 0, activity: { queued: [], waiting: [], last: momentOf(event) } }
}

/** The session after one of its events; undefined if the event does not change a list of sessions. */
export function withEvent(session: ListedSession, event: JournalEvent): ListedSession | undefined {
  const changed = applied(session, event)
  return changed && { ...changed, activity: { ...changed.activity, last: momentOf(event) } }
}

function applied(session: ListedSession, event: JournalEvent): ListedSession | undefined {
  const { activity } = session
  switch (event.type) {
    case 'session.created':
      return { ...session, ...factsOf(event), state: 'open', createdAt: momentOf(event) }
    case 'session.updated':
      return updated(session, event)
    case 'session.closed':
      return closedSession(session)
    case 'prompt.queued':
      return withActivity(session, { queued: withQueued(activity.queued, event) })
    case 'prompt.dropped':
      return withActivity(session, { queued: withoutQueued(activity.queued, event.turn ?? '') })
    case 'turn.started':
      return turnStarted(session, event)
    case 'turn.finished':
      return turnFinished(session, event)
    case 'permission.requested':
    case 'permission.resolved':
    case 'question.requested':
    case 'question.resolved':
      return withActivity(session, { waiting: withRequest(activity.waiting, event, (request) => request) })
    default:
      return undefined
  }
}

/** A closed session has no turn, no prompts and no requests. */
export function closedSession(session: ListedSession): ListedSession {
  const { turn: _turn, ...activity } = session.activity
  return { ...session, state: 'closed', activity: { ...activity, queued: [], waiting: [] } }
}

function updated(session: ListedSession, event: JournalEvent): ListedSession {
  const data = asFields(event.data)
  const { title: known, ...rest } = session
  const title = data.title === null ? undefined : (nameIn(data, 'title') ?? known)
  return {
    ...rest,
    ...factsOf(event),
    ...omitUndefined({ title }),
    state: data.restored === undefined ? session.state : 'open',
  }
}

function turnStarted(session: ListedSession, event: JournalEvent): ListedSession {
  const id = event.turn || `turn_${event.seq}`
  const queued = withoutQueued(session.activity.queued, id)
  const turn = { id, since: momentOf(event) }
  return { ...withActivity(session, { turn, queued }), turns: session.turns + 1 }
}

function turnFinished(session: ListedSession, event: JournalEvent): ListedSession {
  const data = asFields(event.data)
  const { turn, ...activity } = session.activity
  const isOver = turn === undefined || !event.turn || turn.id === event.turn
  const outcome = outcomeIn(data)
  const id = event.turn || turn?.id
  return {
    ...session,
    ...(id !== undefined && { lastTurn: { id, outcome: outcome ?? 'interrupted' } }),
    activity: {
      ...activity,
      ...(!isOver && { turn }),
      ...withTurnSpending(activity, data),
      ...omitUndefined({ context: contextOf(fieldsIn(data, 'context')), outcome }),
    },
  }
}

function factsOf(event: JournalEvent) {
  const data = asFields(event.data)
  return omitUndefined({
    agent: nameIn(data, 'agent'),
    cwd: nameIn(data, 'cwd'),
    agentSession: nameIn(data, 'agentSession'),
  })
}

function withActivity(session: ListedSession, changed: Partial<SessionActivity>): ListedSession {
  return { ...session, activity: { ...session.activity, ...changed } }
}
