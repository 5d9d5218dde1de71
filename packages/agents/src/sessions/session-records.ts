import {
  type ConfigOption,
  type JournalEvent,
  type JournalReader,
  type JsonObject,
  type LastTurn,
  type OpenSessionOptions,
  outcomes,
  readPages,
  type SessionInfo,
} from '@vitrine/protocol'
import { listIn, textIn } from './fields.ts'

/** A session as recorded in the journal. */
export interface SessionRecord {
  readonly id: string
  readonly agent: string
  readonly cwd: string
  readonly createdAt: string
  readonly state: 'open' | 'closed'
  readonly turns: number
  readonly lastTurn: LastTurn | undefined
  readonly agentSession: string | undefined
  /** When the agent opened the session under that id. */
  readonly agentSince: string
  readonly title: string | undefined
  /** The last recorded values of its options. */
  readonly chosen: readonly Pick<ConfigOption, 'id' | 'current'>[]
  /** The recorded options that it was opened with. */
  readonly options: JsonObject
}

/** Reads all sessions of a journal, or one of them, in the order they were opened. */
export async function readRecords(journal: JournalReader, session?: string): Promise<SessionRecord[]> {
  const records = new Map<string, SessionRecord>()
  const types = ['session.*', 'turn.*']
  const pages = readPages(journal, { types, limit: 1_000, ...(session !== undefined && { session }) })
  for await (const { events } of pages) for (const item of events) if ('seq' in item) add(records, item)
  return [...records.values()]
}

function add(records: Map<string, SessionRecord>, event: JournalEvent): void {
  const { session, type, data } = event
  if (session === undefined) return
  const known = records.get(session)
  if (type === 'session.created') {
    const { agent, cwd, agentSession, ...options } = data
    records.set(session, {
      id: session,
      agent: String(agent),
      cwd: String(cwd ?? ''),
      createdAt: event.time,
      state: 'open',
      turns: 0,
      lastTurn: undefined,
      agentSession: typeof agentSession === 'string' ? agentSession : undefined,
      agentSince: event.time,
      title: undefined,
      chosen: chosenIn(data) ?? [],
      options,
    })
  } else if (known === undefined) return
  else if (type === 'turn.started') records.set(session, { ...known, turns: known.turns + 1 })
  else if (type === 'turn.finished') records.set(session, { ...known, lastTurn: lastTurnOf(event) })
  else if (type === 'session.closed') records.set(session, { ...known, state: 'closed' })
  else {
    const agentSession = textIn(data, 'agentSession') ?? known.agentSession
    const agentSince = agentSession === known.agentSession ? known.agentSince : event.time
    const title = 'title' in data ? textIn(data, 'title') : known.title
    const state = 'restored' in data ? 'open' : known.state
    const chosen = chosenIn(data) ?? known.chosen
    records.set(session, { ...known, agentSession, agentSince, title, state, chosen })
  }
}

function lastTurnOf({ turn = '', data }: JournalEvent): LastTurn {
  return { id: turn, outcome: outcomes.find((outcome) => outcome === data.outcome) ?? 'interrupted' }
}

/** The complete options in the data of a session event, if it has them. */
function chosenIn({ options }: JournalEvent['data']): SessionRecord['chosen'] | undefined {
  return Array.isArray(options) ? (options as SessionRecord['chosen']) : undefined
}

/** The list entry of a session that is not open. */
export function closedInfo({
  id,
  agent,
  createdAt,
  cwd,
  turns,
  lastTurn,
  title,
  agentSession,
}: SessionRecord): SessionInfo {
  return {
    id,
    agent,
    state: 'closed',
    createdAt,
    cwd,
    turns,
    busy: false,
    options: [],
    ...(lastTurn !== undefined && { lastTurn }),
    ...(title !== undefined && { title }),
    ...(agentSession !== undefined && { agentSession }),
  }
}

/** The options to restore a session with. Credentials were never recorded; MCP servers with redacted values are left out. */
export function recordedOptions({ options }: SessionRecord): Partial<OpenSessionOptions> {
  const { permissions, limits, queue, restoreChars, grant } = options
  const mcpServers = listIn(options, 'mcpServers').filter(
    (server) => !JSON.stringify(server).includes('[redacted:'),
  )
  const known = { permissions, limits, queue, restoreChars, mcpServers }
  const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined))
  return {
    ...given,
    credentials: grant === 'env' || grant === 'host' ? grant : 'none',
  } as Partial<OpenSessionOptions>
}
