import type { LiveSession } from '@vitrine/agents'
import type { SessionDetail, SessionSummary } from '@vitrine/protocol'
import type { ListedSession } from '@vitrine/views'

/** A session whose start was trimmed is unknown: its agent is not on record any more. */
export function summaryOf(session: ListedSession, live: LiveSession | undefined): SessionSummary | undefined {
  const { id, agent, createdAt, turns, lastTurn, title, cwd = '', agentSession, activity } = session
  if (live !== undefined) return { ...live.info, activity }
  if (agent === undefined || createdAt === undefined) return undefined
  // It is not open in this host, with or without an event that says so.
  const { turn: _turn, ...past } = activity
  return {
    id,
    agent,
    state: 'closed',
    createdAt: createdAt.time,
    cwd,
    turns,
    busy: false,
    options: [],
    ...(lastTurn !== undefined && { lastTurn }),
    ...(title !== undefined && { title }),
    ...(agentSession !== undefined && { agentSession }),
    activity: { ...past, queued: [], waiting: [] },
  }
}

/** The requests that wait, once they are on record. */
export function pendingOf(
  { activity }: SessionSummary,
  live: LiveSession | undefined,
): Pick<SessionDetail, 'permissions' | 'questions'> {
  const recorded = new Set(activity.waiting.map(({ id }) => id))
  const { permissions = [], questions = [] } = live ?? {}
  return {
    permissions: permissions.filter(({ id }) => recorded.has(id)),
    questions: questions.filter(({ id }) => recorded.has(id)),
  }
}
