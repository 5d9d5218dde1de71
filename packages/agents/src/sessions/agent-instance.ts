import {
  type ClientConnection,
  client,
  type JsonRpcId,
  methods,
  RequestError,
} from '@agentclientprotocol/sdk/unstable'
import type { Journal } from '@vitrine/journal'
import { isVitrineError, type JsonObject, VitrineError, version } from '@vitrine/protocol'
import { Serial } from '@vitrine/protocol/primitives'
import { Bridge, type Direction, type Interpretation } from '../bridge/bridge.ts'
import { idKey, type RpcEnvelope } from '../bridge/rpc-envelope.ts'
import type { AgentExit, AgentTransport } from '../bridge/transport.ts'
import type { AgentQuirks } from '../registry/entry.ts'
import type { AgentSession } from './agent-session.ts'
import { CallEvidence } from './call-evidence.ts'
import { readTextFile, withProtocolErrors, writeTextFile } from './client-files.ts'
import { objectIn, textIn } from './fields.ts'
import { LargeResponseLimit } from './large-response-limit.ts'
import { cancelledError, endGraceMs, responseMs, startMs, withTimeLimit } from './limits.ts'
import { requestError } from './request-error.ts'
import { OpenRequests } from './requests.ts'
import { SessionOwners } from './session-owners.ts'

export interface InstanceOptions {
  readonly agent: string
  readonly transport: AgentTransport
  readonly journal: Journal
  readonly credentials: readonly string[]
  readonly quirks: AgentQuirks
  /** Instructions for the error when the agent requires a login. */
  readonly howToLogIn: string
}

interface RequestOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Called with a response that arrived after the request had timed out or was cancelled. */
  onLate?(result: JsonObject): void
}

/** One running agent and its sessions. */
export class AgentInstance {
  readonly agent: string
  readonly quirks: AgentQuirks
  readonly sessions = new SessionOwners<AgentSession>()
  readonly #journal: Journal
  readonly #howToLogIn: string
  readonly #requests = new OpenRequests<AgentSession>()
  readonly #largeResponses = new LargeResponseLimit()
  /** The session that is being opened or restored; messages without a known session id belong to it. */
  #opening: { readonly session: AgentSession; readonly history: 'none' | 'replay' } | undefined
  readonly #openings = new Serial()
  #bridge: Bridge | undefined
  #connection: ClientConnection | undefined
  #initialized: JsonObject = {}
  #ending: Promise<AgentExit> | undefined
  /** Number of sessions that are about to be opened on this agent. */
  #claims = 0

  static async start(options: InstanceOptions, signal?: AbortSignal): Promise<AgentInstance> {
    const instance = new AgentInstance(options)
    await instance.#initialize(options, signal)
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

  /** False once the agent has exited or is being ended. */
  get alive(): boolean {
    return this.#bridge !== undefined && !this.#bridge.ending && this.#ending === undefined
  }

  /** Whether no session uses this agent or is about to. */
  get idle(): boolean {
    return this.sessions.size === 0 && this.#claims === 0
  }

  /** Keeps the agent from being idle until the returned function is called. */
  claim(): () => void {
    this.#claims += 1
    let claimed = true
    return () => {
      if (claimed) this.#claims -= 1
      claimed = false
    }
  }

  forget(session: AgentSession): void {
    this.sessions.forget(session)
  }

  get endedByHost(): boolean {
    return this.bridge.endedBy === 'host'
  }

  /** Capabilities from the agent's response to `initialize`. */
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

  async #initialize({ transport, credentials }: InstanceOptions, signal?: AbortSignal): Promise<void> {
    const bridge = await Bridge.open({
      agent: this.agent,
      transport,
      journal: this.#journal,
      credentials,
      interpret: (envelope, direction) => this.#interpret(envelope, direction),
    })
    this.#bridge = bridge
    const bridgeClient = bridge.attach({
      name: 'sessions',
      handlesRequest: (method) => handledMethods.has(method),
      wantsNotification: () => false,
      mustNotDrop: true,
    })
    this.#connection = this.#app().connect(bridgeClient.stream)
    this.#connection.closed.catch(() => undefined)
    void bridge.closed.then((exit) => this.#onExit(exit)).catch(() => undefined)
    try {
      const limits = { timeoutMs: startMs, ...(signal && { signal }) }
      this.#initialized = await this.request('initialize', this.#initializeParams(), limits)
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

  #initializeParams(): JsonObject {
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

  /** Sends a request to the agent and returns its result unchecked. */
  async request(
    method: string,
    params: JsonObject,
    { timeoutMs = responseMs, signal, onLate }: RequestOptions = {},
  ): Promise<JsonObject> {
    let result: Promise<JsonObject | null> | undefined
    const evidence = this.evidence()
    try {
      result = this.#connected().agent.request<JsonObject | null, JsonObject>(method, params)
      return (await withTimeLimit(result, timeoutMs, `${method} of ${this.agent}`, signal)) ?? {}
    } catch (error) {
      result?.then((late) => onLate?.(late ?? {})).catch(() => undefined)
      throw await evidence.addTo(this.#explain(method, error))
    }
  }

  async notify(method: string, params: JsonObject): Promise<void> {
    await this.#connected().agent.notify(method, params)
  }

  /** Collects what explains a failure of the call that begins now. */
  evidence(): CallEvidence {
    return new CallEvidence(this.bridge, this.#journal)
  }

  #explain(method: string, error: unknown): VitrineError {
    if (isVitrineError(error)) return error
    if (this.#bridge?.exit !== undefined) return this.bridge.exitError()
    return requestError({ agent: this.agent, howToLogIn: this.#howToLogIn }, method, error)
  }

  /**
   * Opens or restores one session at a time, so that messages with an unknown session id can be assigned to it.
   * `history: 'replay'` marks the agent's notifications meanwhile as a replay of earlier messages.
   */
  async opening<T>(
    session: AgentSession,
    history: 'none' | 'replay',
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    let isOpening = false
    const open = async () => {
      isOpening = true
      this.#opening = { session, history }
      try {
        return await work()
      } finally {
        this.#opening = undefined
      }
    }
    try {
      return await this.#openings.run(open, signal)
    } catch (error) {
      throw isOpening ? error : cancelledError(`Opening a session with ${this.agent}`)
    }
  }

  /** Stops the agent and its process tree. */
  end(graceMs = endGraceMs): Promise<AgentExit> {
    this.#ending ??= this.bridge.end(graceMs)
    return this.#ending
  }

  async #onExit(exit: AgentExit): Promise<void> {
    const sessions = this.sessions.all
    this.sessions.clear()
    await Promise.allSettled(sessions.map((session) => session.onAgentExit(this, exit)))
  }

  #connected(): ClientConnection {
    if (this.#connection === undefined || this.#bridge?.exit !== undefined) throw this.bridge.exitError()
    return this.#connection
  }

  #interpret(envelope: RpcEnvelope, direction: Direction): Interpretation {
    if (envelope.kind === 'response') {
      if (direction === 'in') this.#largeResponses.release(idKey(envelope.id))
      const request = this.#requests.take(envelope, direction)
      const owner = request?.owner
      if (request === undefined || owner === undefined) return {}
      return owner.interpretResponse(request, envelope, direction)
    }
    const params = 'params' in envelope.message ? envelope.message.params : undefined
    const owner = this.sessions.of(textIn(params, 'sessionId'), envelope.kind, this.#opening?.session)
    if (envelope.kind === 'request')
      this.#requests.add(direction, envelope.id, { method: envelope.method, owner, params })
    if (owner === undefined) return {}
    // A request is never part of a replay, even when it arrives during one.
    const mayBeReplay = direction === 'out' && envelope.kind !== 'request'
    const replay = mayBeReplay && this.#opening?.session === owner && this.#opening.history === 'replay'
    return owner.interpret(envelope, direction, params, replay ? 'replay' : 'live')
  }

  #app() {
    /** The session that the request was recorded for; only its permission rules apply. */
    const ownerOf = (id: JsonRpcId) => this.#requests.get('out', id)?.owner
    const session = (id: JsonRpcId) => {
      const owner = ownerOf(id)
      const isHere = owner !== undefined && (owner === this.#opening?.session || this.sessions.has(owner))
      if (!isHere) throw new RequestError(-32_602, 'The session of this request is not open.')
      return owner
    }
    const { client: requests } = methods
    return client({ name: 'vitrine' })
      .onRequest(requests.session.requestPermission, async ({ requestId: id }) =>
        wire((await ownerOf(id)?.answers.answerTo(idKey(id))) ?? { outcome: { outcome: 'cancelled' } }),
      )
      .onRequest(requests.elicitation.create, async ({ requestId: id }) =>
        wire((await ownerOf(id)?.answers.answerTo(idKey(id))) ?? { action: 'cancel' }),
      )
      .onRequest(requests.fs.readTextFile, ({ params, requestId: id }) =>
        this.#largeResponses.run(idKey(id), () => readTextFile(session(id).sandboxForAgent(), params)),
      )
      .onRequest(requests.fs.writeTextFile, ({ params, requestId: id }) =>
        writeTextFile(session(id).sandboxForAgent(), params),
      )
      .onRequest(requests.terminal.create, ({ params, requestId: id }) =>
        withProtocolErrors(async () => {
          const { terminals } = session(id)
          return { terminalId: await terminals.create(session(id).sandboxForAgent(), this.agent, params) }
        }),
      )
      .onRequest(requests.terminal.output, ({ params, requestId: id }) =>
        this.#largeResponses.run(idKey(id), () =>
          withProtocolErrors(async () => session(id).terminals.output(params.terminalId)),
        ),
      )
      .onRequest(requests.terminal.waitForExit, ({ params, requestId: id }) =>
        withProtocolErrors(() => session(id).terminals.waitForExit(params.terminalId)),
      )
      .onRequest(requests.terminal.kill, ({ params, requestId: id }) =>
        withProtocolErrors(() => session(id).terminals.kill(params.terminalId)),
      )
      .onRequest(requests.terminal.release, ({ params, requestId: id }) =>
        withProtocolErrors(() => session(id).terminals.release(params.terminalId)),
      )
  }
}

const handledMethods = new Set<string>([
  methods.client.session.requestPermission,
  methods.client.elicitation.create,
  ...Object.values(methods.client.fs),
  ...Object.values(methods.client.terminal),
])

/** The pending request has built the response in the protocol's form. */
function wire<T>(response: JsonObject): T {
  return response as T
}
