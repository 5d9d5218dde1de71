import { isVitrineError, type JsonObject, VitrineError } from '@vitrine/protocol'
import { type Transcript, transcriptText } from '@vitrine/views'
import type { AgentInstance } from './agent-instance.ts'
import type { AgentSession, Restored } from './agent-session.ts'
import { textIn } from './fields.ts'
import { defaultRestoreChars } from './limits.ts'
import type { SessionRecord } from './session-records.ts'

/** What every beginning of a conversation needs. */
export interface Beginning {
  readonly session: AgentSession
  readonly instance: AgentInstance
  readonly signal?: AbortSignal
  /** The servers that the agent is told of; asked when its turn has come. */
  servers(): Promise<readonly JsonObject[]>
}

export interface Begun {
  readonly answer: JsonObject
  readonly agentSession: string
}

/** A new conversation. */
export function newConversation(beginning: Beginning): Promise<Begun> {
  return begin(beginning, 'session/new', false, {})
}

/** One that goes on from another, where the agent can. */
export function forkedConversation(beginning: Beginning, from: AgentSession): Promise<Begun> {
  return begin(beginning, 'session/fork', true, { sessionId: from.agentSession })
}

async function begin(
  { session, instance, signal, servers }: Beginning,
  method: string,
  replay: boolean,
  more: JsonObject,
): Promise<Begun> {
  return instance.opening(session, replay, async () => {
    const asked = { ...more, cwd: session.cwd, mcpServers: await servers() }
    const answer = await instance.request(method, asked, { ...(signal && { signal }) })
    const agentSession = textIn(answer, 'sessionId')
    if (agentSession === undefined)
      throw new VitrineError(
        'agent_confused',
        `The agent ${instance.agent} answered ${method} without a sessionId: ${JSON.stringify(answer).slice(0, 200)}`,
      )
    instance.sessions.set(agentSession, session)
    return { answer, agentSession }
  })
}

type Back = Restored & { readonly way: 'load' | 'resume' | 'transcript' }

/** An earlier conversation: by the agent's own memory where it has one, else by being told what was said. */
export async function restoredConversation(
  beginning: Beginning & { readonly signal: AbortSignal },
  record: SessionRecord,
  tell: { readonly transcript: () => Promise<Transcript>; readonly maxChars: number | undefined },
): Promise<Back> {
  return (await byMemory(beginning, record)) ?? byTranscript(beginning, tell)
}

/** Without telling everything again where it can. */
async function byMemory(
  { session, instance, signal, servers }: Beginning & { readonly signal: AbortSignal },
  { agentSession, createdAt }: SessionRecord,
): Promise<Back | undefined> {
  if (agentSession === undefined) return undefined
  const tooYoung = Date.now() - Date.parse(createdAt) < (instance.quirks.loadsAfterMs ?? 0)
  const ways = [
    ...(instance.can('resume') ? (['resume'] as const) : []),
    ...(instance.canLoad && !tooYoung ? (['load'] as const) : []),
  ]
  for (const way of ways) {
    try {
      const answer = await instance.opening(session, true, async () => {
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
  beginning: Beginning,
  { transcript, maxChars = defaultRestoreChars }: Parameters<typeof restoredConversation>[2],
): Promise<Back> {
  const said = await transcript()
  const begun = await newConversation(beginning)
  const text = maxChars === 0 ? '' : transcriptText(said, { maxChars })
  const told = text === '' ? {} : { told: `${preface}\n\n${text}` }
  return { instance: beginning.instance, ...begun, way: 'transcript', ...told }
}
