import { isVitrineError, type JsonObject, VitrineError } from '@vitrine/protocol'
import { type Transcript, transcriptText } from '@vitrine/views'
import { turnsKey } from '../bridge/function-transport.ts'
import type { AgentInstance } from './agent-instance.ts'
import type { AgentSession } from './agent-session.ts'
import { textIn } from './fields.ts'
import { cancelledError, closeMs, defaultRestoreChars } from './limits.ts'
import type { Restored } from './session-host.ts'
import type { SessionRecord } from './session-records.ts'

/** The inputs of every way to open a conversation. */
export interface OpenContext {
  readonly session: AgentSession
  readonly instance: AgentInstance
  readonly signal: AbortSignal
  /** The MCP servers to pass to the agent; called when this opening is next in line. */
  servers(): Promise<readonly JsonObject[]>
}

export interface OpenedConversation {
  /** Result of the request that opened the conversation. */
  readonly answer: JsonObject
  readonly agentSession: string
  readonly conversation: Restored['conversation']
}

/** Opens a new conversation. */
export function newConversation(context: OpenContext, turns = 0): Promise<OpenedConversation> {
  const meta = turns === 0 ? {} : { _meta: { [turnsKey]: turns } }
  return open(context, 'session/new', 'none', meta)
}

/** Opens a conversation that continues another one; the agent must support `session/fork`. */
export function forkedConversation(context: OpenContext, from: AgentSession): Promise<OpenedConversation> {
  return open(context, 'session/fork', 'replay', { sessionId: from.agentSession })
}

async function open(
  { session, instance, signal, servers }: OpenContext,
  method: string,
  history: 'none' | 'replay',
  params: JsonObject,
): Promise<OpenedConversation> {
  return instance.opening(session, history, signal, async () => {
    const request = { ...params, cwd: session.cwd, mcpServers: await servers() }
    const onLate = (answer: JsonObject) => discard(instance, textIn(answer, 'sessionId'))
    if (signal.aborted) throw cancelledError(method)
    const answer = await instance.request(method, request, { signal, onLate })
    const agentSession = textIn(answer, 'sessionId')
    if (agentSession === undefined)
      throw new VitrineError(
        'agent_protocol_error',
        `The agent ${instance.agent} responded to ${method} without a sessionId: ${JSON.stringify(answer).slice(0, 200)}`,
      )
    instance.sessions.set(agentSession, session)
    return { answer, agentSession, conversation: history === 'none' ? 'new' : 'continued' }
  })
}

/** Closes a session that the agent opened too late, and ignores the requests that it makes there. */
function discard(instance: AgentInstance, sessionId: string | undefined): void {
  if (sessionId === undefined || !instance.alive) return
  instance.sessions.retire(sessionId)
  if (instance.can('close'))
    void instance.request('session/close', { sessionId }, { timeoutMs: closeMs }).catch(() => undefined)
}

type RestoredConversation = Restored & { readonly way: 'load' | 'resume' | 'transcript' }

/** Restores an earlier conversation: from the agent's own storage where it has one, else with a recap of the transcript. */
export async function restoredConversation(
  context: OpenContext,
  record: SessionRecord,
  recap: { readonly transcript: () => Promise<Transcript>; readonly maxChars: number | undefined },
): Promise<RestoredConversation> {
  return (await byAgent(context, record)) ?? byTranscript(context, recap)
}

/** Tries `session/resume` first, because `session/load` replays the whole conversation. */
async function byAgent(
  { session, instance, signal, servers }: OpenContext,
  { agentSession, agentSince }: SessionRecord,
): Promise<RestoredConversation | undefined> {
  if (agentSession === undefined) return undefined
  const tooRecent = Date.now() - Date.parse(agentSince) < (instance.quirks.loadsAfterMs ?? 0)
  const ways = [
    ...(instance.can('resume') ? (['resume'] as const) : []),
    ...(instance.canLoad && !tooRecent ? (['load'] as const) : []),
  ]
  for (const way of ways) {
    try {
      const answer = await instance.opening(session, 'replay', signal, async () => {
        const request = { sessionId: agentSession, cwd: session.cwd, mcpServers: await servers() }
        instance.sessions.set(agentSession, session)
        return instance.request(`session/${way}`, request, { signal })
      })
      return { instance, answer, agentSession, conversation: 'continued', way }
    } catch (error) {
      instance.sessions.drop(agentSession)
      if (signal.aborted || !instance.alive || !isVitrineError(error)) throw error
      const message = `session/${way} failed; trying another way to restore the conversation: ${error.message}`
      await session.journal.append([{ type: 'log.message', data: { level: 'warn', message } }])
    }
  }
  return undefined
}

const preface =
  'We have talked before, and you may not remember it. This is the newest part of what was said and done; go on from there.'

async function byTranscript(
  context: OpenContext,
  { transcript, maxChars = defaultRestoreChars }: Parameters<typeof restoredConversation>[2],
): Promise<RestoredConversation> {
  const earlier = await transcript()
  // A function agent continues to count its rounds from the number of turns.
  const opened = await newConversation(context, context.session.info.turns)
  const text = maxChars === 0 ? '' : transcriptText(earlier, { maxChars })
  const recap: Pick<Restored, 'recap'> = text === '' ? {} : { recap: `${preface}\n\n${text}` }
  return { instance: context.instance, ...opened, way: 'transcript', ...recap }
}
