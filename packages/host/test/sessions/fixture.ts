import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { CustomAgent, OpenOptions } from '@vitrine/agents'
import {
  type AgentMessage,
  isVitrineError,
  type JournalEvent,
  type JournalItem,
  type JournalReader,
  type MatchedEvent,
  readPages,
  type Session,
  type VitrineError,
  workKinds,
} from '@vitrine/protocol'
import { type LocalOptions, local } from '@vitrine/sandbox'
import { afterAll, expect, onTestFinished } from 'vitest'
import { createSandbox, type HostSandbox } from '../../src/index.ts'
import { quick } from '../fixtures/data.ts'

export { quick }

interface SceneOptions extends Omit<LocalOptions, 'data'> {
  readonly agents?: readonly CustomAgent[]
  readonly agentCache?: string
}

/** A sandbox for one test. When the test is over its sessions are closed, and its whole journal must keep the laws. */
export async function scene({
  agents = [],
  agentCache,
  ...options
}: SceneOptions = {}): Promise<HostSandbox> {
  const sandbox = await createSandbox({
    agents,
    ...(agentCache !== undefined && { agentCache }),
    install: 'never',
    provider: local({ isolation: 'none', ...options }),
  })
  onTestFinished(async () => {
    try {
      await endSessions(sandbox)
      await checkLaws(sandbox.journal)
    } finally {
      await sandbox.close()
    }
  })
  return sandbox
}

/** A session that keeps the shared agent alive. */
const anchor = 'anchor'
let shared: Promise<HostSandbox> | undefined
/** From where on a test looks at a journal that others have used before. */
const since = new WeakMap<JournalReader, string>()

/** Closes the shared sandbox after the tests of a file. Each file that uses `sharedScene` calls it: files share modules. */
export function closeSharedSceneAfterAll(): void {
  afterAll(async () => {
    const sandbox = await shared
    shared = undefined
    if (sandbox === undefined) return
    try {
      await (await sandbox.sessions.get(anchor)).close()
      await checkLaws(sandbox.journal)
    } finally {
      await sandbox.close()
    }
  })
}

/**
 * For a test that affects no other: one sandbox and one demo agent for all of a file. The test sees what has happened since
 * it began; the laws are checked after it, and once more over the whole journal in the end.
 */
export async function sharedScene(): Promise<HostSandbox> {
  shared ??= openShared()
  const sandbox = (await shared).as({})
  for await (const { cursor } of readPages(sandbox.journal, { limit: 1_000 }))
    since.set(sandbox.journal, cursor)
  onTestFinished(async () => {
    await endSessions(sandbox)
    await checkLaws(sandbox.journal)
  })
  return sandbox
}

async function openShared(): Promise<HostSandbox> {
  const sandbox = await createSandbox({ install: 'never', provider: local({ isolation: 'none' }) })
  const session = await open(sandbox, { id: anchor })
  // Unrequested updates after the opening of a session belong to no test.
  await session.prompt('/say here')
  return sandbox
}

export async function endSessions(sandbox: HostSandbox): Promise<void> {
  for (const { id, state } of await sandbox.sessions.list())
    if (state === 'open' && id !== anchor) await (await sandbox.sessions.get(id)).close()
}

/** A session with the demo agent, in a hurry. */
export function open(sandbox: HostSandbox, options: Partial<OpenOptions> = {}): Promise<Session> {
  return sandbox.openSession({ agent: 'demo', ...options, env: { ...quick, ...options.env } })
}

/** The demo agent under another name, where one process serves one session. */
export function unshared(name = 'alone'): CustomAgent {
  const demo = new URL('../../../agents/src/demo/main.ts', import.meta.url).pathname
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', demo]
  return { name, command, env: quick }
}

/** An agent that is written out: a script that reads and writes lines. */
export function script(name: string, source: string): CustomAgent {
  return { name, command: [process.execPath, '--input-type=module', '-e', `${preamble}\n${source}`] }
}

/** `on` handles requests by method; `send`, `ask`, `update` and `reply` write. */
const preamble = `
import { createInterface } from 'node:readline'
const handlers = new Map(), waiting = new Map()
let asked = 0
const on = (method, handler) => handlers.set(method, handler)
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const reply = (id, result) => send({ id, result })
const ask = (method, params, id = 'ask-' + ++asked) => new Promise((resolve) => {
  waiting.set(id, resolve)
  send({ id, method, params })
})
const update = (sessionId, update) => send({ method: 'session/update', params: { sessionId, update } })
const say = (sessionId, text) =>
  update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
const options = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]
on('initialize', ({ id }) => reply(id, { protocolVersion: 1, agentCapabilities: {} }))
on('session/new', ({ id }) => reply(id, { sessionId: 'session-' + ++asked }))
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const message = JSON.parse(line)
  if (message.method === undefined) waiting.get(message.id)?.(message)
  else handlers.get(message.method)?.({ id: message.id, ...message.params })
})
lines.on('close', () => process.exit(0))
`

export async function allEvents(journal: JournalReader, types?: readonly string[]): Promise<JournalEvent[]> {
  const events: JournalEvent[] = []
  const after = since.get(journal)
  const options = { limit: 1_000, ...(after !== undefined && { after }), ...(types && { types }) }
  for await (const page of readPages(journal, options)) events.push(...page.events.filter(isEvent))
  return events
}

function isEvent(item: JournalItem): item is JournalEvent {
  return 'seq' in item
}

/** Every start has one end, after it; `seq` has no gap; a turn's events lie within the turn. */
export async function checkLaws(journal: JournalReader): Promise<void> {
  // A kill is recorded a moment after the process ended. A missing record fails below, with its name.
  for (let tries = 0; tries < 2_000 && hasOpenWork(await allEvents(journal)); tries += 1) await sleep(10)
  const events = await allEvents(journal)
  const first = since.has(journal) ? (events[0]?.seq ?? 1) : 1
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + first))
  for (const [kind, { starts, ends, id }] of Object.entries(workKinds)) {
    const begun = events.filter(({ type }) => type === starts)
    const ended = events.filter(({ type }) => type === ends)
    expect(ended.map(id).sort(), `${kind}: one end for each start`).toEqual(begun.map(id).sort())
    for (const start of begun) {
      const end = ended.find((one) => id(one) === id(start))
      expect(end?.seq, `${kind}: the end comes after the start`).toBeGreaterThan(start.seq)
      expect(end?.session, `${kind}: both belong to one session`).toBe(start.session)
    }
  }
  for (const { turn, seq } of events.filter(({ type }) => type === 'turn.finished')) {
    const asked = events.filter((event) => event.turn === turn && /^(permission|question)\./.test(event.type))
    for (const event of asked) expect(event.seq, `${event.type} lies within its turn`).toBeLessThan(seq)
  }
  checkPrompts(events)
  checkSessions(events)
}

/** A queued prompt either starts or is dropped, once; a turn starts once, and its messages lie within it. */
function checkPrompts(events: readonly JournalEvent[]): void {
  const waiting = new Set<string>()
  const states = new Map<string, 'started' | 'finished'>()
  for (const { type, turn = '', seq } of events) {
    if (type === 'prompt.queued') {
      expect(waiting.has(turn), `prompt.queued (${seq}) comes once`).toBe(false)
      waiting.add(turn)
    } else if (type === 'prompt.dropped') waiting.delete(turn)
    else if (type === 'turn.started') {
      expect(states.get(turn), `turn.started (${seq}) comes once`).toBeUndefined()
      waiting.delete(turn)
      states.set(turn, 'started')
    } else if (type === 'turn.finished') states.set(turn, 'finished')
    else if (type === 'agent.message' && turn !== '')
      expect(states.get(turn), `agent.message (${seq}) lies within its turn`).toBe('started')
  }
  expect([...waiting], 'every queued prompt has an end').toEqual([])
}

function hasOpenWork(events: readonly JournalEvent[]): boolean {
  return Object.values(workKinds).some(({ starts, ends, id }) => {
    const ended = new Set(events.filter(({ type }) => type === ends).map(id))
    return events.some((event) => event.type === starts && !ended.has(id(event)))
  })
}

/** Created once; closed, and restored before anything else happens in it. */
function checkSessions(events: readonly JournalEvent[]): void {
  const states = new Map<string, 'open' | 'closed'>()
  for (const { type, session, data, seq } of events) {
    if (session === undefined) continue
    const state = states.get(session)
    if (type === 'session.created') {
      expect(state, `session.created (${seq}) comes once`).toBeUndefined()
      states.set(session, 'open')
    } else if (type === 'session.closed') {
      expect(state, `session.closed (${seq}) is of one that is open`).toBe('open')
      states.set(session, 'closed')
    } else if (type === 'session.updated' && 'restored' in data) states.set(session, 'open')
    else if (type === 'turn.started')
      expect(state, `turn.started (${seq}) is in one that is open`).toBe('open')
  }
  for (const [session, state] of states) expect(state, `${session} was closed`).toBe('closed')
}

/** Those of a type; `where` says which. */
export function eventsOf<const Type extends string>(
  sandbox: HostSandbox,
  type: Type,
  where?: Partial<JournalEvent>,
): Promise<MatchedEvent<Type>[]>
export async function eventsOf(
  sandbox: HostSandbox,
  type: string,
  where: Partial<JournalEvent> = {},
): Promise<JournalEvent[]> {
  const events = await allEvents(sandbox.journal, [type])
  return events.filter((event) => isDeepStrictEqual({ ...event, ...where }, { ...event }))
}

/** The first event that fits, as soon as it is there. */
export async function until(
  sandbox: HostSandbox,
  type: string,
  fits: (event: JournalEvent) => boolean = () => true,
): Promise<JournalEvent> {
  const after = since.get(sandbox.journal)
  for await (const event of sandbox.journal.tail({ types: [type], ...(after !== undefined && { after }) }))
    if (isEvent(event) && fits(event)) return event
  throw new Error(`The journal ended without ${type}.`)
}

/** The agent's messages in a session, or in one of its turns. */
export async function saidIn(sandbox: HostSandbox, where: Partial<JournalEvent>): Promise<string> {
  const events = await eventsOf(sandbox, 'agent.message', where)
  return events
    .filter(({ data }) => data.direction === 'out' && data.replay !== true)
    .map(({ data }) => chunkText(data.message))
    .join('')
}

function chunkText(message: AgentMessage): string {
  const update = message.method === 'session/update' ? message.params?.update : undefined
  if (update?.sessionUpdate !== 'agent_message_chunk') return ''
  return update.content?.type === 'text' ? update.content.text : ''
}

/** Prompts and returns the agent's messages. */
export async function promptForText(sandbox: HostSandbox, session: Session, prompt: string): Promise<string> {
  const { turn } = await session.prompt(prompt)
  return saidIn(sandbox, { turn })
}

/** The coded error that something fails with. */
export async function failure(work: Promise<unknown>): Promise<VitrineError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isVitrineError(error))
    throw new Error(`Expected a coded error, got ${String(error)}.`, { cause: error })
  return error
}

/** Waits for something that no event tells. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(5)
}
