import type { EventContext } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import type { AgentInstance } from './agent-instance.ts'
import type { AgentSession } from './agent-session.ts'
import type { AttachedAgent } from './attached-agent.ts'
import { closeMs } from './limits.ts'
import type { SessionTurns } from './turns.ts'

interface ClosingSession {
  readonly session: AgentSession
  readonly turns: SessionTurns
  readonly agent: AttachedAgent
  /** Releases the agent and the tools. */
  release(): Promise<void>
}

/** Ends the turns and the agent of a session, each within a time limit, and records its end. */
export async function closeSession(
  { session, turns, agent, release }: ClosingSession,
  reason: string,
  by: EventContext,
): Promise<void> {
  const turnEnded = await settledWithin(turns.cancel('closed'), closeMs, { ref: true })
  await settledWithin(agent.restoring, closeMs, { ref: true })
  const { answers, terminals, journal } = session
  // Cancel the permissions and questions that were requested outside of a turn.
  await settledWithin(answers.cancelAll('close'), closeMs, { ref: true })
  const { instance } = agent
  if (instance?.alive && instance.sessions.all.some((other) => other !== session)) {
    if (instance.can('close')) await closeAtAgent(instance, agent.agentSession, turns)
    else if (!turnEnded) await stopAgent(instance, session)
  }
  await release()
  await turns.ended
  await terminals.close()
  await agent.exit?.recording
  const orphaned = answers.orphaned()
  const closed = agent.exit?.isRecorded
    ? []
    : [{ ...by, type: 'session.closed', data: { reason, endedBy: 'host' } }]
  if (orphaned.length + closed.length > 0) await journal.append([...orphaned, ...closed])
}

/** Closes the session at an agent that others share. */
async function closeAtAgent(instance: AgentInstance, sessionId: string, turns: SessionTurns): Promise<void> {
  await instance.request('session/close', { sessionId }, { timeoutMs: closeMs }).catch(() => undefined)
  turns.abandon()
}

/** Stops a shared agent that can neither close a session nor end its turn. */
async function stopAgent(instance: AgentInstance, { journal }: AgentSession): Promise<void> {
  const data = { limit: 'session.closeMs', max: closeMs, instance: instance.id }
  await journal.append([{ type: 'limit.reached', data }])
  await instance.end(0)
}
