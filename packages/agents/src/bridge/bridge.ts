import { setTimeout as sleep } from 'node:timers/promises'
import type { AnyMessage, AnyRequest, AnyResponse, JsonRpcId } from '@agentclientprotocol/sdk'
import type { Journal, JournalStream } from '@vitrine/journal'
import { type EventContext, type EventInput, isVitrineError, newId, VitrineError } from '@vitrine/protocol'
import {
  hasTooManyValues,
  ObserverErrors,
  Serial,
  settledWithin,
  withinEventValues,
} from '@vitrine/protocol/primitives'
import { BridgeClient, type BridgeClientOptions } from './bridge-client.ts'
import { type Garbage, LineCutter, type LinePiece } from './lines.ts'
import { messageChannels } from './message-channels.ts'
import { readPieces } from './pieces.ts'
import {
  errorResponse,
  idKey,
  invalidRequest,
  methodNotFound,
  type RpcEnvelope,
  rpcEnvelopeOf,
} from './rpc-envelope.ts'
import { formatExcerpt, maskedExcerpt } from './stderr-lines.ts'
import type { AgentExit, AgentTransport, StderrExcerpt } from './transport.ts'

/** Consecutive bytes that are not JSON-RPC after which the program is considered not to speak ACP and is ended. */
const maxUnparsedBytes = 1024 * 1024
/** Bytes read but not yet committed: reading pauses above the high mark and resumes below the low mark. */
const highWater = 8 * 1024 * 1024
const lowWater = 2 * 1024 * 1024
/** Requests of the agent without a response: reading pauses above the first number and resumes below the second. */
const maxOpenRequests = 1_000
const resumeOpenRequests = 500
/** Estimated memory of a queued message beyond its own bytes. */
const messageBytes = 1_024
const defaultMaxMessageBytes = 32 * 1024 * 1024
const retryMs = 200
/** Time to wait for an agent to exit by itself after its stdin broke. */
const brokenPipeMs = 3_000

export type Direction = 'in' | 'out'

/** Context and derived events of a message. Computed once per message, in journal order, before the message is appended. */
export interface Interpretation {
  /** Session and turn of the message. */
  readonly context?: EventContext
  readonly replay?: boolean
  /** Derived events, committed in the same transaction as the message. */
  readonly events?: readonly EventInput[]
  /** Events to append instead of the message. */
  readonly replacement?: readonly EventInput[]
  /** Called after the commit, before the message is delivered. */
  onCommitted?(): void
  /** Called instead of `onCommitted` when the commit failed. */
  onCommitFailed?(error: unknown): void
}

export interface BridgeOptions {
  readonly agent: string
  readonly transport: AgentTransport
  /** The journal of the agent's sandbox. */
  readonly journal: Journal
  readonly credentials?: readonly string[]
  readonly maxMessageBytes?: number
  interpret(envelope: RpcEnvelope, direction: Direction): Interpretation
}

/**
 * Multiplexes one agent among several clients. Every message is committed to the journal before it is delivered, in
 * either direction. Request ids of different clients do not collide; the first response to an agent's request wins.
 */
export class Bridge {
  readonly instance = newId('agent')
  readonly agent: string
  /** Settles once the agent has exited and `agent.exited` is appended. */
  readonly closed: Promise<AgentExit>
  readonly #transport: AgentTransport
  readonly #journal: Journal
  /** Retries while the store fails, keeps the order, and redacts secrets that are split over messages. */
  readonly #fromAgent: JournalStream
  readonly #options: BridgeOptions
  readonly #cutter: LineCutter
  readonly #maxMessageBytes: number
  readonly #clients = new Set<BridgeClient>()
  /** Open requests of clients, by the id that the agent sees. */
  readonly #clientRequests = new Map<number, { readonly client: BridgeClient; readonly id: JsonRpcId }>()
  /** Ids of the agent's requests that have no response yet. */
  readonly #agentRequests = new Set<string>()
  #nextId = 0
  /** Bytes read from the agent and not yet committed. */
  #unhandled = 0
  /** Bytes of error responses that are not yet written to the agent's pipe. */
  #unsent = 0
  #hasExited = false
  #reportedBackpressure = false
  /** Bytes that were not JSON-RPC since the last valid message. */
  #unparsedBytes = 0
  /** Why the bridge stopped the agent. */
  #fault: string | undefined
  #paused = false
  #startedAt = performance.now()
  #endedBy: 'agent' | 'host' = 'agent'
  #exit: AgentExit | undefined
  #inboundTail: Promise<unknown> = Promise.resolve()
  readonly #outbound = new Serial()
  readonly #observerErrors = new ObserverErrors({ log: (event) => this.#journal.append([event]) })

  private constructor(options: BridgeOptions) {
    const { agent, transport, journal, maxMessageBytes = defaultMaxMessageBytes } = options
    this.agent = agent
    this.#options = options
    this.#transport = transport
    this.#journal = journal
    this.#fromAgent = journal
      .as({ source: 'agent' })
      .stream({ retryWhileFailing: true, channelOf: messageChannels() })
    this.#maxMessageBytes = maxMessageBytes
    this.#cutter = new LineCutter(maxMessageBytes)
    this.closed = transport.closed.then((exit) => this.#end(exit))
    this.closed.catch(() => undefined)
    // A dead agent reads no responses, so backpressure must not stop us from reading its last bytes.
    void transport.exited.then(() => {
      this.#hasExited = true
      this.#updateBackpressure()
    })
  }

  static async open(options: BridgeOptions): Promise<Bridge> {
    const bridge = new Bridge(options)
    const { agent, transport, credentials } = options
    const data = { agent, instance: bridge.instance, ...transport.facts, ...(credentials && { credentials }) }
    try {
      await options.journal.append([{ type: 'agent.started', data }])
    } catch (error) {
      // An agent whose start is not in the journal must not run.
      await transport.end(0)
      throw error
    }
    transport.start((bytes) => bridge.#take(bridge.#cutter.take(bytes)))
    return bridge
  }

  /** Whether the agent has exited or is being ended. */
  get ending(): boolean {
    return this.#exit !== undefined || this.#fault !== undefined || this.#endedBy === 'host'
  }

  get endedBy(): 'agent' | 'host' {
    return this.#endedBy
  }

  /** The observed exit; undefined while the agent runs. */
  get exit(): AgentExit | undefined {
    return this.#exit
  }

  /** The lines of the agent's stderr so far, with their secrets masked. */
  stderr(): StderrExcerpt {
    return this.#exit?.stderr ?? maskedExcerpt(this.#transport.stderr(), this.#journal)
  }

  get transport(): AgentTransport {
    return this.#transport
  }

  /** Adds a client. It gets the requests and notifications that its options ask for. */
  attach(options: BridgeClientOptions): BridgeClient {
    const client = new BridgeClient(options, {
      observerErrors: this.#observerErrors,
      send: (message) => this.#send(client, message),
      onClosed: () => this.#detach(client),
    })
    if (this.#exit !== undefined) client.end(this.exitError())
    else this.#clients.add(client)
    return client
  }

  /** Stops the agent and its process tree. */
  async end(graceMs: number): Promise<AgentExit> {
    this.#endedBy = 'host'
    await this.#transport.end(graceMs)
    return this.closed
  }

  /** The error for requests to an agent that has exited or is being ended. */
  exitError(): VitrineError {
    const exit = this.#exit
    if (exit === undefined) return new VitrineError('agent_exited', `The agent ${this.agent} is stopping.`)
    const how = exit.signal === null ? `exit code ${exit.exitCode ?? 'unknown'}` : `signal ${exit.signal}`
    const { exitCode, signal, stderr } = exit
    if (this.#fault !== undefined)
      return new VitrineError('agent_protocol_error', `The agent ${this.agent} was stopped: ${this.#fault}`, {
        details: { agent: this.agent, instance: this.instance, exitCode, signal, stderr: { ...stderr } },
      })
    return new VitrineError(
      'agent_exited',
      `The agent ${this.agent} has exited (${how}).${formatExcerpt(stderr)}`,
      { details: { agent: this.agent, instance: this.instance, exitCode, signal, stderr: { ...stderr } } },
    )
  }

  #detach(client: BridgeClient): void {
    this.#clients.delete(client)
    for (const [id, request] of this.#clientRequests)
      if (request.client === client) this.#clientRequests.delete(id)
  }

  async #end(observed: AgentExit): Promise<AgentExit> {
    // Masked as a whole: of the few lines that an error repeats, a secret over several lines would not be recognised.
    const exit = { ...observed, stderr: maskedExcerpt(observed.stderr, this.#journal) }
    this.#take(this.#cutter.end())
    await this.#fromAgent.end()
    await this.#inboundTail
    this.#exit = exit
    const { outcome, exitCode, signal, stderr } = exit
    const data = {
      ...{ agent: this.agent, instance: this.instance, outcome, exitCode, signal, stderr },
      endedBy: this.#endedBy,
      durationMs: Math.round(performance.now() - this.#startedAt),
    }
    await this.#journal.append([{ type: 'agent.exited', data }]).catch(() => undefined)
    for (const client of this.#clients) client.end(this.exitError())
    this.#clients.clear()
    this.#clientRequests.clear()
    this.#agentRequests.clear()
    return exit
  }

  /** Commits what the agent wrote, then delivers it to the clients. */
  #take(pieces: readonly LinePiece[]): void {
    // The agent is being ended for its output; ignore the rest, which has no bound.
    if (this.#fault !== undefined) return
    const events: EventInput[] = []
    const messages: {
      envelope: RpcEnvelope
      onCommitted: Interpretation['onCommitted']
      isDuplicate: boolean
    }[] = []
    let bytes = 0
    for (const piece of readPieces(pieces)) {
      if (piece.kind === 'garbage') {
        bytes += piece.bytes.length
        events.push(this.#unparsed(piece.bytes, piece.reason), ...this.#checkUnparsed(piece))
        continue
      }
      const { envelope } = piece
      bytes += piece.bytes + messageBytes
      this.#unparsedBytes = 0
      const isDuplicate = this.#isDuplicate(envelope)
      const interpretation = isDuplicate ? {} : this.#options.interpret(envelope, 'out')
      events.push(...this.#eventsOf(envelope, 'out', interpretation))
      messages.push({ envelope, onCommitted: interpretation.onCommitted, isDuplicate })
    }
    if (events.length === 0) return
    this.#addInbound(bytes)
    const committed = this.#fromAgent.append(events)
    this.#inboundTail = Promise.all([this.#inboundTail, committed]).then(
      () => {
        this.#addInbound(-bytes)
        for (const { envelope, onCommitted, isDuplicate } of messages) {
          onCommitted?.()
          if (isDuplicate) this.#refuseDuplicate(envelope)
          else this.#deliver(envelope)
        }
        // Skipped output may contain a response that a client waits for, so the agent is ended.
        if (this.#fault !== undefined) void this.end(0).catch(() => undefined)
      },
      () => this.#onCommitFailed(),
    )
  }

  /** Whether a request reuses the id of an open request; otherwise marks its id as open. */
  #isDuplicate(envelope: RpcEnvelope): boolean {
    if (envelope.kind !== 'request') return false
    const key = idKey(envelope.id)
    if (this.#agentRequests.has(key)) return true
    this.#agentRequests.add(key)
    return false
  }

  /** Counts invalid bytes; at the limit, sets the fault and returns the event that reports it. */
  #checkUnparsed({ bytes, tooLong }: Garbage): EventInput[] {
    this.#unparsedBytes += bytes.length
    if (this.#fault !== undefined) return []
    if (!tooLong && this.#unparsedBytes < maxUnparsedBytes) return []
    const [limit, max] = tooLong
      ? ['agent.messageBytes', this.#maxMessageBytes]
      : ['agent.unparsedBytes', maxUnparsedBytes]
    this.#fault = tooLong
      ? `it sent a message of more than ${max} bytes.`
      : `it does not speak the Agent Client Protocol: ${max} bytes of its output were not JSON-RPC messages. Check the agent's command and the \`agent.unparsed\` events in the journal.`
    return [{ type: 'limit.reached', data: { limit, max, agent: this.agent, instance: this.instance } }]
  }

  #unparsed(raw: Buffer, reason: string): EventInput {
    const text = raw.toString('utf8')
    const utf8 = Buffer.byteLength(text) === raw.length && !text.includes('\ufffd')
    const content = utf8
      ? { data: text, encoding: 'utf8' }
      : { data: raw.toString('base64'), encoding: 'base64' }
    return {
      type: 'agent.unparsed',
      data: { agent: this.agent, instance: this.instance, ...content, reason },
    }
  }

  #eventsOf(
    envelope: RpcEnvelope,
    direction: Direction,
    interpretation: Interpretation,
  ): readonly EventInput[] {
    const { context, replay, events = [], replacement } = interpretation
    if (replacement !== undefined) return replacement.map(withinBounds)
    const { instance } = this
    const { message } = envelope
    const data = { instance, direction, message, ...(replay && { replay: true }) }
    // A message with too many values for an event is recorded as text, which becomes a blob.
    const stored = hasTooManyValues(data) ? { ...data, message: JSON.stringify(message) } : data
    return [{ ...context, type: 'agent.message', data: stored }, ...events.map(withinBounds)]
  }

  #refuseDuplicate(envelope: RpcEnvelope): void {
    if (envelope.kind !== 'request') return
    const why = `A request with the id ${String(envelope.id)} is already open.`
    this.#refuse(errorResponse(envelope.id, invalidRequest, why), {})
  }

  #deliver(envelope: RpcEnvelope): void {
    if (envelope.kind === 'response') this.#deliverResponse(envelope.id, envelope.message)
    else if (envelope.kind === 'request') this.#deliverRequest(envelope.id, envelope.message)
    else
      for (const client of this.#clients)
        if (client.wantsNotification(envelope.method)) client.deliver(envelope.message)
  }

  #deliverResponse(id: JsonRpcId, message: AnyResponse): void {
    const request = typeof id === 'number' ? this.#clientRequests.get(id) : undefined
    if (typeof id !== 'number' || request === undefined) {
      this.#warn(`The agent ${this.agent} sent a response to a request that is not open (id ${String(id)}).`)
      return
    }
    this.#clientRequests.delete(id)
    request.client.deliver({ ...message, id: request.id })
  }

  #deliverRequest(id: JsonRpcId, message: AnyRequest): void {
    const handlers = [...this.#clients].filter((client) => client.handlesRequest(message.method))
    for (const client of handlers) client.deliver(message)
    if (handlers.length > 0) return
    this.#agentRequests.delete(idKey(id))
    const why = `No client handles the method ${message.method.slice(0, 200)}.`
    this.#refuse(errorResponse(id, methodNotFound, why))
  }

  /** Sends an error response of the bridge itself. Its bytes count for backpressure until the agent's pipe has taken them. */
  #refuse(response: AnyResponse, known?: Interpretation): void {
    const bytes = JSON.stringify(response).length + messageBytes
    this.#addOutbound(bytes)
    this.#write(response, known)
      .catch(() => undefined)
      .finally(() => this.#addOutbound(-bytes))
  }

  /** Sends a message of a client to the agent. */
  #send(client: BridgeClient, message: AnyMessage): Promise<void> {
    if (this.#exit !== undefined) return Promise.reject(this.exitError())
    const envelope = rpcEnvelopeOf(message)
    if (envelope === undefined)
      return Promise.reject(new VitrineError('argument_invalid', 'message: expected a JSON-RPC message.'))
    if (envelope.kind === 'notification') return this.#write(envelope.message)
    if (envelope.kind === 'request') {
      this.#nextId += 1
      this.#clientRequests.set(this.#nextId, { client, id: envelope.id })
      return this.#write({ ...envelope.message, id: this.#nextId })
    }
    const key = idKey(envelope.id)
    const isOpen = this.#agentRequests.delete(key)
    this.#updateBackpressure()
    if (!isOpen) {
      this.#warn(
        `The bridge client ${client.name} responded to a request of ${this.agent} that is not open (id ${String(envelope.id)}).`,
      )
      return Promise.resolve()
    }
    for (const other of this.#clients) if (other !== client) other.onAnsweredByOther(envelope.message)
    return this.#write(envelope.message)
  }

  #write(message: AnyMessage, known?: Interpretation): Promise<void> {
    const envelope = rpcEnvelopeOf(message)
    if (envelope === undefined) return Promise.resolve()
    const interpretation = known ?? this.#options.interpret(envelope, 'in')
    // Appends run one after another, so the agent gets messages in journal order.
    const recorded = this.#outbound.run(async () => {
      try {
        await this.#append(this.#eventsOf(envelope, 'in', interpretation))
        interpretation.onCommitted?.()
      } catch (error) {
        interpretation.onCommitFailed?.(error)
        this.#onCommitFailed()
        throw error
      }
    })
    // Waiting for the pipe is not part of the chain: an agent that does not read must not block later appends.
    return recorded.then(() =>
      this.#transport.write(`${JSON.stringify(message)}\n`).catch(() => this.#onBrokenPipe()),
    )
  }

  /** The agent's stdin is broken: waits for its exit, and ends it if it keeps running without an input. */
  async #onBrokenPipe(): Promise<never> {
    await settledWithin(this.closed, brokenPipeMs)
    if (this.#exit === undefined) {
      this.#fault ??= 'it closed its stdin and cannot receive messages.'
      await this.end(0)
    }
    throw this.exitError()
  }

  #warn(message: string): void {
    const data = { level: 'warn', message, instance: this.instance }
    this.#journal.append([{ type: 'log.message', data }]).catch(() => undefined)
  }

  #addInbound(bytes: number): void {
    this.#unhandled += bytes
    this.#updateBackpressure()
  }

  #addOutbound(bytes: number): void {
    this.#unsent += bytes
    this.#updateBackpressure()
  }

  /** Stops reading from an agent that is ahead of the journal, of our responses, or of its own reading, to bound our memory. */
  #updateBackpressure(): void {
    const unsent = this.#hasExited ? 0 : this.#unsent
    const open = this.#hasExited ? 0 : this.#agentRequests.size
    const mustPause = this.#unhandled > highWater || unsent > highWater || open > maxOpenRequests
    const mayResume = this.#unhandled < lowWater && unsent < lowWater && open < resumeOpenRequests
    if (!this.#paused && mustPause) {
      this.#paused = true
      this.#transport.pause()
      if (open > maxOpenRequests) this.#reportBackpressure()
    } else if (this.#paused && mayResume) {
      this.#paused = false
      this.#transport.resume()
    }
  }

  /** Reports the limit once per agent, because it may be reached many times. */
  #reportBackpressure(): void {
    if (this.#reportedBackpressure) return
    this.#reportedBackpressure = true
    const { agent, instance } = this
    const data = { limit: 'agent.openRequests', max: maxOpenRequests, agent, instance }
    this.#journal.append([{ type: 'limit.reached', data }]).catch(() => undefined)
  }

  /** Appends, and retries as long as the store fails with a retryable error and the agent runs. */
  async #append(events: readonly EventInput[]): Promise<void> {
    for (;;) {
      try {
        await this.#journal.append(events)
        return
      } catch (error) {
        if (!isVitrineError(error) || error.retryable !== true || this.#exit !== undefined) throw error
        await sleep(retryMs)
      }
    }
  }

  /** Stops the agent, because a message could not be committed. */
  #onCommitFailed(): void {
    if (this.#exit === undefined) void this.end(0).catch(() => undefined)
  }
}

/** An agent is not ended for the size of a message: the event that is derived from it is cut, the message itself is not. */
function withinBounds(event: EventInput): EventInput {
  return event.data === undefined ? event : { ...event, data: withinEventValues(event.data) }
}
