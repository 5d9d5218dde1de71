import type { SessionInfo, SessionSummary } from '@vitrine/protocol'
import type { ListedSession } from '@vitrine/views'

/** A session whose start was trimmed is unknown: its agent is not on record any more. */
export function summaryOf(session: ListedSession, live: SessionInfo | undefined): SessionSummary | undefined {
  const { id, agent, createdAt, turns, title, cwd = '', agentSession, activity } = session
  if (live !== undefined) return { ...live, activity }
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
    ...(title !== undefined && { title }),
    ...(agentSession !== undefined && { agentSession }),
    activity: { ...past, queued: [], waiting: [] },
  }
}
