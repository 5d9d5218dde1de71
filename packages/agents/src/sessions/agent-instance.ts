import {
  type ClientConnection,
  client,
  type JsonRpcId,
  methods,
  RequestError,
} from '@agentclientprotocol/sdk/unstable'
import type { Journal } from '@vitrine/journal'
import { isVitrineError, type JsonObject, toVitrineError, VitrineError, version } from '@vitrine/protocol'
import { Bridge, type Direction, type Interpretation } from '../bridge/bridge.ts'
import { type Envelope, idKey } from '../bridge/envelope.ts'
import type { AgentExit, AgentTransport } from '../bridge/transport.ts'
import type { AgentQuirks } from '../registry/entry.ts'
import type { AgentSession } from './agent-session.ts'
import { answering, readTextFile, writeTextFile } from './client-files.ts'
import { objectIn, textIn } from './fields.ts'
import { LargeResponseLimit } from './large-response-limit.ts'
import { answerMs, cancelled, endGraceMs, startMs, withinTime } from './limits.ts'
import { OpenRequests } from './requests.ts'
import { SessionOwners } from './session-owners.ts'

export interface InstanceOptions {
  readonly agent: string
  readonly transport: AgentTransport
  readonly journal: Journal
  readonly credentials: readonly string[]
  readonly quirks: AgentQuirks
  /** What to say when the agent wants a login. */
  readonly howToLogIn: string
}

interface RequestOptions {
  readonly ms?: number
  readonly signal?: AbortSignal
  /** Given the answer that came when nobody waited for it any more. */
  late?(answer: JsonObject): void
}

/** One agent that runs, and the sessions that it has. */
export class AgentInstance {
  readonly agent: string
  readonly quirks: AgentQuirks
  readonly sessions = new SessionOwners<AgentSession>()
  readonly #journal: Journal
  readonly #howToLogIn: string
  readonly #requests = new OpenRequests<AgentSession>()
  readonly #heavy = new LargeResponseLimit()
  /** The session that is being opened or restored: what is said meanwhile is its own. */
  #opening: { readonly session: AgentSession; readonly replay: boolean } | undefined
  #openings: Promise<unknown> = Promise.resolve()
  #bridge: Bridge | undefined
  #connection: ClientConnection | undefined
  #initialized: JsonObject = {}
  #ending: Promise<AgentExit> | undefined
  /** Who is about to have a session here. */
  #claims = 0

  static async start(options: InstanceOptions, signal?: AbortSignal): Promise<AgentInstance> {
    const instance = new AgentInstance(options)
    await instance.#begin(options, signal)
    return instance
  }

  private constructor({ agent, journal, quirks, howToLogIn }: InstanceOptions) {
    this.agent = agent
    this.quirks = quirks
    this.#journal = journal
    this.#howToLogIn = howToLogIn
  }

  get bridge(): Bridge {
    if (this.#bridge === undefined) throw new VitrineError('internal', 'The agent has no bridge yet.')
    return this.#bridge
  }

  get id(): string {
    return this.bridge.instance
  }

  /** False once it has ended or is being ended. */
  get alive(): boolean {
    return this.#bridge !== undefined && !this.#bridge.ending && this.#ending === undefined
  }

  /** Nobody has a session here, or is about to. */
  get idle(): boolean {
    return this.sessions.size === 0 && this.#claims === 0
  }

  /** It stays until this is taken back. */
  claim(): () => void {
    this.#claims += 1
    let held = true
    return () => {
      if (held) this.#claims -= 1
      held = false
    }
  }

  forget(session: AgentSession): void {
    this.sessions.forget(session)
  }

  get endedByHost(): boolean {
    return this.bridge.endedBy === 'host'
  }

  /** What it said of itself. */
  get capabilities(): JsonObject {
    return objectIn(this.#initialized, 'agentCapabilities') ?? {}
  }

  can(what: 'list' | 'resume' | 'fork' | 'close'): boolean {
    const sessions = objectIn(this.capabilities, 'sessionCapabilities')
    return objectIn(sessions, what) !== undefined || sessions?.[what] === true
  }

  get canLoad(): boolean {
    return this.capabilities.loadSession === true
  }

  async #begin({ transport, credentials }: InstanceOptions, signal?: AbortSignal): Promise<void> {
    const bridge = await Bridge.open({
      agent: this.agent,
      transport,
      journal: this.#journal,
      credentials,
      interpret: (envelope, direction) => this.#meaning(envelope, direction),
    })
    this.#bridge = bridge
    const party = bridge.attach({
      name: 'sessions',
      handlesRequest: answers,
      wantsNotification: () => false,
      mustNotDrop: true,
    })
    this.#connection = this.#app().connect(party.stream)
    this.#connection.closed.catch(() => undefined)
    void bridge.closed.then((exit) => this.#gone(exit)).catch(() => undefined)
    try {
      const asked = { ms: startMs, ...(signal && { signal }) }
      this.#initialized = await this.request('initialize', this.#introduction(), asked)
    } catch (error) {
      await bridge.end(0).catch(() => undefined)
      throw error
    }
    if (this.#initialized.protocolVersion !== 1) {
      await bridge.end(endGraceMs)
      const version = String(this.#initialized.protocolVersion)
      throw new VitrineError(
        'agent_protocol_error',
        `The agent ${this.agent} speaks version ${version} of the protocol; expected 1.`,
      )
    }
  }

  #introduction(): JsonObject {
    const files = this.quirks.noFiles !== true
    return {
      protocolVersion: 1,
      clientInfo: { name: 'vitrine', title: 'Vitrine', version },
      clientCapabilities: {
        fs: { readTextFile: files, writeTextFile: files },
        terminal: true,
        elicitation: { form: {}, url: {} },
      },
    }
  }

  /** Asks the agent. Gives its answer as it came, whatever else is in it. */
  async request(
    method: string,
    params: JsonObject,
    { ms = answerMs, signal, late }: RequestOptions = {},
  ): Promise<JsonObject> {
    let answer: Promise<JsonObject | null> | undefined
    try {
      answer = this.#connected().agent.request<JsonObject | null, JsonObject>(method, params)
      return (await withinTime(answer, ms, `${method} of ${this.agent}`, signal)) ?? {}
    } catch (error) {
      answer?.then((given) => late?.(given ?? {})).catch(() => undefined)
      throw this.explain(method, error)
    }
  }

  async notify(method: string, params: JsonObject): Promise<void> {
    await this.#connected().agent.notify(method, params)
  }

  /** What went wrong, in our words: it ended, it refused, or it said something odd. */
  explain(method: string, error: unknown): VitrineError {
    if (isVitrineError(error)) return error
    if (this.#bridge?.exit !== undefined) return this.bridge.exitError()
    if (!(error instanceof RequestError)) {
      const { message } = toVitrineError(error)
      return new VitrineError(
        'agent_protocol_error',
        `The agent ${this.agent} answered ${method} oddly: ${message}`,
        {
          cause: error,
        },
      )
    }
    const { code, data } = error
    const inner = textIn(data, 'message') ?? textIn(data, 'details')
    const message =
      inner === undefined || error.message.includes(inner) ? error.message : `${error.message}: ${inner}`
    const details = { agent: this.agent, method, code, ...(isJson(data) && { data }) }
    if (code === authRequired)
      return new VitrineError(
        'credentials_missing',
        `The agent ${this.agent} wants a login (${message}). ${this.#howToLogIn}`,
        { details, cause: error },
      )
    return new VitrineError(
      'agent_failed',
      `The agent ${this.agent} answered ${method} with an error: ${message}`,
      {
        details,
        cause: error,
      },
    )
  }

  /** Opens or restores one session at a time: what the agent says meanwhile belongs to it. */
  async opening<T>(
    session: AgentSession,
    replay: boolean,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const before = this.#openings
    const over = Promise.withResolvers<void>()
    this.#openings = before.then(() => over.promise)
    try {
      const what = `Opening a session with ${this.agent}`
      await withinTime(before, Number.POSITIVE_INFINITY, what, signal)
      if (signal.aborted) throw cancelled(what)
      this.#opening = { session, replay }
      return await work()
    } finally {
      if (this.#opening?.session === session) this.#opening = undefined
      over.resolve()
    }
  }

  /** Ends the program and everything it started. */
  end(graceMs = endGraceMs): Promise<AgentExit> {
    this.#ending ??= this.bridge.end(graceMs)
    return this.#ending
  }

  async #gone(exit: AgentExit): Promise<void> {
    const sessions = this.sessions.all
    this.sessions.clear()
    await Promise.allSettled(sessions.map((session) => session.agentGone(this, exit)))
  }

  #connected(): ClientConnection {
    if (this.#connection === undefined || this.#bridge?.exit !== undefined) throw this.bridge.exitError()
    return this.#connection
  }

  #meaning(envelope: Envelope, direction: Direction): Interpretation {
    if (envelope.kind === 'response') {
      if (direction === 'in') this.#heavy.answered(idKey(envelope.id))
      const request = this.#requests.answered(envelope, direction)
      const owner = request?.owner
      if (request === undefined || owner === undefined) return {}
      return owner.answered(request, envelope, direction)
    }
    const params = 'params' in envelope.message ? envelope.message.params : undefined
    const owner = this.sessions.of(textIn(params, 'sessionId'), envelope.kind, this.#opening?.session)
    if (envelope.kind === 'request')
      this.#requests.add(direction, envelope.id, { method: envelope.method, owner, params })
    if (owner === undefined) return {}
    // What is asked is asked now, whatever is told again meanwhile.
    const again = direction === 'out' && envelope.kind !== 'request'
    const replay = again && this.#opening?.session === owner && this.#opening.replay
    return owner.interpret(envelope, direction, params, replay)
  }

  #app() {
    /** Whose it was when it was put on record: nobody else's rules decide it. */
    const asker = (id: JsonRpcId) => this.#requests.get('out', id)?.owner
    const session = (id: JsonRpcId) => {
      const owner = asker(id)
      const isHere = owner !== undefined && (owner === this.#opening?.session || this.sessions.has(owner))
      if (!isHere) throw new RequestError(-32_602, 'There is no such session.')
      return owner
    }
    const { client: asks } = methods
    return client({ name: 'vitrine' })
      .onRequest(asks.session.requestPermission, async ({ requestId: id }) =>
        wire((await asker(id)?.answers.answerTo(idKey(id))) ?? { outcome: { outcome: 'cancelled' } }),
      )
      .onRequest(asks.elicitation.create, async ({ requestId: id }) =>
        wire((await asker(id)?.answers.answerTo(idKey(id))) ?? { action: 'cancel' }),
      )
      .onRequest(asks.fs.readTextFile, ({ params, requestId: id }) =>
        this.#heavy.work(idKey(id), () => readTextFile(session(id).acting(), params)),
      )
      .onRequest(asks.fs.writeTextFile, ({ params, requestId: id }) =>
        writeTextFile(session(id).acting(), params),
      )
      .onRequest(asks.terminal.create, ({ params, requestId: id }) =>
        answering(async () => {
          const { terminals } = session(id)
          return { terminalId: await terminals.create(session(id).acting(), this.agent, params) }
        }),
      )
      .onRequest(asks.terminal.output, ({ params, requestId: id }) =>
        this.#heavy.work(idKey(id), () =>
          answering(async () => session(id).terminals.output(params.terminalId)),
        ),
      )
      .onRequest(asks.terminal.waitForExit, ({ params, requestId: id }) =>
        answering(() => session(id).terminals.waitForExit(params.terminalId)),
      )
      .onRequest(asks.terminal.kill, ({ params, requestId: id }) =>
        answering(() => session(id).terminals.kill(params.terminalId)),
      )
      .onRequest(asks.terminal.release, ({ params, requestId: id }) =>
        answering(() => session(id).terminals.release(params.terminalId)),
      )
  }
}

const authRequired = -32_000

const answered = new Set<string>([
  methods.client.session.requestPermission,
  methods.client.elicitation.create,
  ...Object.values(methods.client.fs),
  ...Object.values(methods.client.terminal),
])

function answers(method: string): boolean {
  return answered.has(method)
}

/** An answer of ours was made to the protocol's form where it was decided. */
function wire<T>(answer: JsonObject): T {
  return answer as T
}

function isJson(data: unknown): data is JsonObject {
  return objectIn(data) !== undefined
}
