import { isVitrineError, type JsonObject, VitrineError } from '@vitrine/protocol'
import { type Transcript, transcriptText } from '@vitrine/views'
import { turnsKey } from '../bridge/function-transport.ts'
import type { AgentInstance } from './agent-instance.ts'
import type { AgentSession, Restored } from './agent-session.ts'
import { textIn } from './fields.ts'
import { cancelled, closeMs, defaultRestoreChars } from './limits.ts'
import type { SessionRecord } from './session-records.ts'

/** What every beginning of a conversation needs. */
export interface OpenContext {
  readonly session: AgentSession
  readonly instance: AgentInstance
  readonly signal: AbortSignal
  /** The servers that the agent is told of; asked when its turn has come. */
  servers(): Promise<readonly JsonObject[]>
}

export interface OpenedConversation {
  readonly answer: JsonObject
  readonly agentSession: string
}

/** A new conversation. */
export function newConversation(beginning: OpenContext, turns = 0): Promise<OpenedConversation> {
  const more = turns === 0 ? {} : { _meta: { [turnsKey]: turns } }
  return begin(beginning, 'session/new', false, more)
}

/** One that goes on from another, where the agent can. */
export function forkedConversation(beginning: OpenContext, from: AgentSession): Promise<OpenedConversation> {
  return begin(beginning, 'session/fork', true, { sessionId: from.agentSession })
}

async function begin(
  { session, instance, signal, servers }: OpenContext,
  method: string,
  replay: boolean,
  more: JsonObject,
): Promise<OpenedConversation> {
  return instance.opening(session, replay, signal, async () => {
    const asked = { ...more, cwd: session.cwd, mcpServers: await servers() }
    const late = (answer: JsonObject) => leave(instance, textIn(answer, 'sessionId'))
    if (signal.aborted) throw cancelled(method)
    const answer = await instance.request(method, asked, { signal, late })
    const agentSession = textIn(answer, 'sessionId')
    if (agentSession === undefined)
      throw new VitrineError(
        'agent_protocol_error',
        `The agent ${instance.agent} answered ${method} without a sessionId: ${JSON.stringify(answer).slice(0, 200)}`,
      )
    instance.sessions.set(agentSession, session)
    return { answer, agentSession }
  })
}

/** A session that nobody waited for: the agent need not keep it, and what it asks in it is nobody's. */
function leave(instance: AgentInstance, sessionId: string | undefined): void {
  if (sessionId === undefined || !instance.alive) return
  instance.sessions.retire(sessionId)
  if (instance.can('close'))
    void instance.request('session/close', { sessionId }, { ms: closeMs }).catch(() => undefined)
}

type RestoredConversation = Restored & { readonly way: 'load' | 'resume' | 'transcript' }

/** An earlier conversation: by the agent's own memory where it has one, else by being told what was said. */
export async function restoredConversation(
  beginning: OpenContext,
  record: SessionRecord,
  tell: { readonly transcript: () => Promise<Transcript>; readonly maxChars: number | undefined },
): Promise<RestoredConversation> {
  return (await byMemory(beginning, record)) ?? byTranscript(beginning, tell)
}

/** Without telling everything again where it can. */
async function byMemory(
  { session, instance, signal, servers }: OpenContext,
  { agentSession, agentSince }: SessionRecord,
): Promise<RestoredConversation | undefined> {
  if (agentSession === undefined) return undefined
  const tooYoung = Date.now() - Date.parse(agentSince) < (instance.quirks.loadsAfterMs ?? 0)
  const ways = [
    ...(instance.can('resume') ? (['resume'] as const) : []),
    ...(instance.canLoad && !tooYoung ? (['load'] as const) : []),
  ]
  for (const way of ways) {
    try {
      const answer = await instance.opening(session, true, signal, async () => {
        const asked = { sessionId: agentSession, cwd: session.cwd, mcpServers: await servers() }
        instance.sessions.set(agentSession, session)
        return instance.request(`session/${way}`, asked, { signal })
      })
      return { instance, answer, agentSession, way }
    } catch (error) {
      instance.sessions.drop(agentSession)
      if (signal.aborted || !instance.alive || !isVitrineError(error)) throw error
      const message = `session/${way} failed, another way is tried: ${error.message}`
      await session.journal.append([{ type: 'log.message', data: { level: 'warn', message } }])
    }
  }
  return undefined
}

const preface =
  'We have talked before, and you may not remember it. This is the newest part of what was said and done; go on from there.'

async function byTranscript(
  beginning: OpenContext,
  { transcript, maxChars = defaultRestoreChars }: Parameters<typeof restoredConversation>[2],
): Promise<RestoredConversation> {
  const said = await transcript()
  // An agent that is a function counts its rounds on from there.
  const begun = await newConversation(beginning, beginning.session.info.turns)
  const text = maxChars === 0 ? '' : transcriptText(said, { maxChars })
  const recap = text === '' ? {} : { recap: `${preface}\n\n${text}` }
  return { instance: beginning.instance, ...begun, way: 'transcript', ...recap }
}
