import { randomInt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox, type HostSandbox } from '@vitrine/host'
import {
  type AgentMessage,
  isGap,
  isVitrineError,
  type JournalEvent,
  type PermissionAnswer,
  type PromptResult,
  readPages,
  type Session,
  type VitrineError,
} from '@vitrine/protocol'
import { local } from '@vitrine/sandbox'
import type { Transcript } from '@vitrine/views'
import { type ModelServer, startModelServer } from '../../packages/agents/test/model/server.ts'
import { withTimeLimit } from '../src/waiting/within.ts'
import { agentCache, modelKey } from './environment.ts'
import type { ExpectedBehaviour } from './expected.ts'
import { type ProcessIdentity, processesOf } from './process-table.ts'

/** One sandbox and one session with a real agent, shared by consecutive cases. */
export interface AgentFixture {
  readonly expected: ExpectedBehaviour
  readonly isolation: AgentIsolation
  readonly model: ModelServer
  readonly sandbox: HostSandbox
  readonly session: Session
  /** Every process that was ever seen in the sandbox, by pid and start time. */
  readonly seen: Map<string, ProcessIdentity>
  close(): Promise<void>
}

export type AgentIsolation = 'bubblewrap' | 'none'

export async function openFixture(
  expected: ExpectedBehaviour,
  isolation: AgentIsolation,
): Promise<AgentFixture> {
  const { agent, mode } = expected
  const model = await startModelServer()
  const sandbox = await createSandbox({
    provider: local({ isolation }),
    agentCache,
    install: 'never',
    prefix: `vitrine-${agent}-`,
  })
  const close = async () => {
    await sandbox.close()
    await model.close()
  }
  try {
    const session = await sandbox.openSession({
      agent,
      modelEndpoint: { url: model.url, key: modelKey },
      ...(mode !== undefined && { mode }),
    })
    return { expected, isolation, model, sandbox, session, seen: new Map(), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The result or error of a turn, and all its events in the journal. */
export interface TurnRecord {
  readonly turn: string
  readonly result: PromptResult | undefined
  readonly error: VitrineError | undefined
  readonly events: readonly JournalEvent[]
}

export interface TurnActions {
  /** The answer to every permission request. */
  readonly answer?: PermissionAnswer
  /** Runs during the turn, with access to its events. */
  readonly meanwhile?: (watch: TurnEvents) => Promise<void>
}

export interface TurnEvents {
  /** Waits for the first event of the turn that matches. */
  until(what: string, matches: (event: JournalEvent) => boolean): Promise<JournalEvent>
}

export async function runTurn(
  { session, sandbox }: SessionFixture,
  prompt: string,
  actions: TurnActions = {},
): Promise<TurnRecord> {
  const { answer, meanwhile = async () => undefined } = actions
  const turnEvents = listen(session)
  const stopAnswering = session.onEvent(({ type, data }) => {
    if (type !== 'permission.requested' || answer === undefined) return
    session.respondPermission(String(data.permission), answer).catch(() => undefined)
  })
  try {
    const prompting = session.prompt(prompt).then(
      (result) => ({ result, error: undefined }),
      (error: unknown) => ({ result: undefined, error: codedError(error) }),
    )
    prompting.catch(() => undefined)
    await meanwhile(turnEvents)
    const ending = await prompting
    const finished = await turnEvents.until('turn.finished', ({ type }) => type === 'turn.finished')
    const { turn = '' } = finished
    return { turn, ...ending, events: (await allEvents(sandbox)).filter((event) => event.turn === turn) }
  } finally {
    turnEvents.stop()
    stopAnswering()
  }
}

type SessionFixture = Pick<AgentFixture, 'session' | 'sandbox'>

/** Sends a prompt whose turn must end with `ok`, and returns the agent's text. */
export async function replyTo(fixture: SessionFixture, prompt: string): Promise<string> {
  const { error, events, result } = await runTurn(fixture, prompt)
  if (error !== undefined) throw error
  if (result?.outcome !== 'ok')
    throw new Error(`Expected the turn "${prompt}" to end with outcome ok, got ${JSON.stringify(result)}.`)
  return textIn(events)
}

function codedError(error: unknown): VitrineError {
  if (isVitrineError(error)) return error
  throw new Error(`Expected a coded error, got ${String(error)}.`, { cause: error })
}

function listen(session: Session): TurnEvents & { stop(): void } {
  const events: JournalEvent[] = []
  let waiting: (() => void)[] = []
  const stop = session.onEvent((event) => {
    events.push(event)
    for (const wake of waiting.splice(0)) wake()
  })
  const find = async (matches: (event: JournalEvent) => boolean): Promise<JournalEvent> => {
    for (;;) {
      const found = events.find(matches)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        waiting = [...waiting, resolve]
      })
    }
  }
  return { stop, until: (what, fits) => withTimeLimit(what, find(fits)) }
}

export async function allEvents({ journal }: Pick<HostSandbox, 'journal'>): Promise<JournalEvent[]> {
  const events: JournalEvent[] = []
  for await (const page of readPages(journal, { limit: 1_000 }))
    for (const item of page.events) if (!isGap(item)) events.push(item)
  return events
}

/** The session's transcript. The cast is safe: `transcript()` returns the JSON of this type. */
export async function transcriptOf({ session }: Pick<AgentFixture, 'session'>): Promise<Transcript> {
  return (await session.transcript()) as Transcript
}

/** The text of the agent's messages to the user. */
export function textIn(events: readonly JournalEvent[]): string {
  return chunksIn(events, 'agent_message_chunk')
}

export function chunksIn(events: readonly JournalEvent[], kind: string): string {
  return events.map((event) => chunkOf(event, kind)).join('')
}

/** The text of a session update of the given kind, or an empty string. */
export function chunkOf(event: JournalEvent, kind: string): string {
  const update = updateOf(event)
  if (update?.sessionUpdate !== kind || !('content' in update)) return ''
  const { content } = update
  return content && 'text' in content ? content.text : ''
}

type Update = Extract<AgentMessage, { method: 'session/update' }>['params']['update']

/** The session update in an agent's message; undefined if the agent replays an old one. */
export function updateOf({ type, data }: JournalEvent): Update | undefined {
  if (type !== 'agent.message' || data.direction !== 'out' || data.replay === true) return undefined
  return data.message.method === 'session/update' ? data.message.params?.update : undefined
}

export function ofType(events: readonly JournalEvent[], wanted: string): JournalEvent[] {
  return events.filter(({ type }) => type === wanted)
}

/** The absolute path of a workspace file, and its content if it exists. */
export function fileIn(
  { sandbox }: SessionFixture,
  name: string,
): { path: string; content: string | undefined } {
  const path = join(sandbox.root, name)
  return { path, content: existsSync(path) ? readFileSync(path, 'utf8') : undefined }
}

/** A long command and a mark that finds its process. It starts with `echo`: claude refuses one that starts with a long sleep. */
export function longCommand(): { readonly command: string; readonly mark: string } {
  const mark = `sleep 300.${randomInt(100_000, 999_999)}`
  return { command: `echo started && ${mark}`, mark }
}

/** Adds the processes that run now to `seen`, so that a later case can check that they have ended. */
export function recordProcesses({ sandbox, seen }: Pick<AgentFixture, 'sandbox' | 'seen'>): void {
  for (const one of processesOf(sandbox.id)) seen.set(`${one.pid} ${one.started}`, one)
}
