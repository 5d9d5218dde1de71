import { setTimeout as sleep } from 'node:timers/promises'
import type { AnyMessage, AnyRequest, AnyResponse, JsonRpcId } from '@agentclientprotocol/sdk'
import type { Journal, JournalStream } from '@vitrine/journal'
import { type EventContext, type EventInput, isVitrineError, newId, VitrineError } from '@vitrine/protocol'
import { BridgeClient, type BridgeClientOptions } from './bridge-client.ts'
import {
  type Envelope,
  envelopeOf,
  errorResponse,
  idKey,
  invalidRequest,
  methodNotFound,
} from './envelope.ts'
import { type Garbage, LineCutter, type Piece } from './lines.ts'
import { readPieces } from './pieces.ts'
import { formatExcerpt } from './stderr-lines.ts'
import type { AgentExit, AgentTransport } from './transport.ts'

/** What is no message, with no message in between: what says so much of it does not speak the protocol. */
const maxUnparsedBytes = 1024 * 1024
/** What is read and not yet committed: above it the agent's pipe is not read, below the other it is read again. */
const highWater = 8 * 1024 * 1024
const lowWater = 2 * 1024 * 1024
/** What it asked and nobody has answered: above it the agent is not read, below the other it is read again. */
const maxOpenRequests = 1_000
const fewOpenRequests = 500
/** What a message costs beyond its bytes while it waits. */
const messageBytes = 1_024
const defaultMaxMessageBytes = 32 * 1024 * 1024
const retryMs = 200
/** How long the end of an agent may take that does not read any more. */
const deafMs = 3_000

export type Direction = 'in' | 'out'

/** What an envelope means beyond itself. It is asked once, in the order of the record, before it is written. */
export interface Interpretation {
  /** Whom it belongs to. */
  readonly context?: EventContext
  readonly replay?: boolean
  /** Written with it, at once. */
  readonly events?: readonly EventInput[]
  /** Written in its place. */
  readonly replacement?: readonly EventInput[]
  /** Called once it is committed, before anybody else hears of it. */
  onCommitted?(): void
  /** Called instead when it could not be committed. */
  onCommitFailed?(error: unknown): void
}

export interface BridgeOptions {
  readonly agent: string
  readonly transport: AgentTransport
  /** Of the sandbox that the agent is in. */
  readonly journal: Journal
  readonly credentials?: readonly string[]
  readonly maxMessageBytes?: number
  interpret(envelope: Envelope, direction: Direction): Interpretation
}

/**
 * The one way to an agent: a journaled duplex that several parties may read and answer. Every message is committed
 * before it goes on, in either direction. Ids of the parties are kept apart; of an agent's request the first answer wins.
 */
export class Bridge {
  readonly instance = newId('agent')
  readonly agent: string
  /** Settles once the agent has ended and that is on record. */
  readonly closed: Promise<AgentExit>
  readonly #transport: AgentTransport
  readonly #host: Journal
  /** Patient, in order, and aware of secrets that are split over messages. */
  readonly #fromAgent: JournalStream
  readonly #options: BridgeOptions
  readonly #cutter: LineCutter
  readonly #maxMessageBytes: number
  readonly #parties = new Set<BridgeClient>()
  /** Requests of parties that the agent has not answered. */
  readonly #asked = new Map<number, { readonly party: BridgeClient; readonly id: JsonRpcId }>()
  /** Requests of the agent that nobody has answered. */
  readonly #open = new Set<string>()
  #nextId = 0
  #unhandled = 0
  /** Bytes of refusals that its pipe has not taken. */
  #unsent = 0
  #isGone = false
  #saidHeld = false
  /** Bytes since the last message that were none. */
  #unparsedBytes = 0
  /** Why the host ended it. */
  #fault: string | undefined
  #held = false
  #began = performance.now()
  #endedBy: 'agent' | 'host' = 'agent'
  #exit: AgentExit | undefined
  #inboundTail: Promise<unknown> = Promise.resolve()
  #outboundTail: Promise<unknown> = Promise.resolve()

  private constructor(options: BridgeOptions) {
    const { agent, transport, journal, maxMessageBytes = defaultMaxMessageBytes } = options
    this.agent = agent
    this.#options = options
    this.#transport = transport
    this.#host = journal
    this.#fromAgent = journal.as({ source: 'agent' }).stream({ retryWhileFailing: true })
    this.#maxMessageBytes = maxMessageBytes
    this.#cutter = new LineCutter(maxMessageBytes)
    this.closed = transport.ended.then((exit) => this.#end(exit))
    this.closed.catch(() => undefined)
    // Nothing will be answered any more, and its last bytes are wanted.
    void transport.gone.then(() => {
      this.#isGone = true
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
      // What is not on record must not run.
      await transport.end(0)
      throw error
    }
    transport.start((bytes) => bridge.#take(bridge.#cutter.take(bytes)))
    return bridge
  }

  /** Whether it has ended, or is being ended. */
  get ending(): boolean {
    return this.#exit !== undefined || this.#fault !== undefined || this.#endedBy === 'host'
  }

  get endedBy(): 'agent' | 'host' {
    return this.#endedBy
  }

  /** How it ended, once it has. */
  get exit(): AgentExit | undefined {
    return this.#exit
  }

  get transport(): AgentTransport {
    return this.#transport
  }

  /** Lets somebody read and answer. What the agent asks goes to whoever wants to answer it. */
  attach(options: BridgeClientOptions): BridgeClient {
    const party = new BridgeClient(options, {
      send: (message) => this.#send(party, message),
      left: () => this.#leave(party),
    })
    if (this.#exit !== undefined) party.end(this.exitError())
    else this.#parties.add(party)
    return party
  }

  /** Ends the agent and everything it started. */
  async end(graceMs: number): Promise<AgentExit> {
    this.#endedBy = 'host'
    await this.#transport.end(graceMs)
    return this.closed
  }

  /** Why nothing can be asked of it any more. */
  exitError(): VitrineError {
    const exit = this.#exit
    if (exit === undefined) return new VitrineError('agent_exited', `The agent ${this.agent} is ending.`)
    const how = exit.signal === null ? `exit code ${exit.exitCode ?? 'unknown'}` : `signal ${exit.signal}`
    const { exitCode, signal, stderr } = exit
    if (this.#fault !== undefined)
      return new VitrineError('agent_protocol_error', `The agent ${this.agent} was ended: ${this.#fault}`, {
        details: { agent: this.agent, instance: this.instance, exitCode, signal, stderr: { ...stderr } },
      })
    return new VitrineError(
      'agent_exited',
      `The agent ${this.agent} has ended (${how}).${formatExcerpt(stderr)}`,
      { details: { agent: this.agent, instance: this.instance, exitCode, signal, stderr: { ...stderr } } },
    )
  }

  #leave(party: BridgeClient): void {
    this.#parties.delete(party)
    for (const [id, asked] of this.#asked) if (asked.party === party) this.#asked.delete(id)
  }

  async #end(exit: AgentExit): Promise<AgentExit> {
    this.#take(this.#cutter.end())
    await this.#fromAgent.end()
    await this.#inboundTail
    this.#exit = exit
    const { outcome, exitCode, signal, stderr } = exit
    const data = {
      ...{ agent: this.agent, instance: this.instance, outcome, exitCode, signal, stderr },
      endedBy: this.#endedBy,
      durationMs: Math.round(performance.now() - this.#began),
    }
    await this.#host.append([{ type: 'agent.exited', data }]).catch(() => undefined)
    for (const party of this.#parties) party.end(this.exitError())
    this.#parties.clear()
    this.#asked.clear()
    this.#open.clear()
    return exit
  }

  /** From the agent: in the record first, then to whoever wants it. */
  #take(pieces: readonly Piece[]): void {
    // It is being ended for what it said; there may be any amount of it.
    if (this.#fault !== undefined) return
    const events: EventInput[] = []
    const messages: { envelope: Envelope; committed: Interpretation['onCommitted']; again: boolean }[] = []
    let bytes = 0
    for (const piece of readPieces(pieces)) {
      if (piece.kind === 'garbage') {
        bytes += piece.bytes.length
        events.push(this.#unparsed(piece.bytes, piece.reason), ...this.#tooMuch(piece))
        continue
      }
      const { envelope } = piece
      bytes += piece.bytes
      this.#unparsedBytes = 0
      const again = this.#isOpenAlready(envelope)
      const meaning = again ? {} : this.#options.interpret(envelope, 'out')
      events.push(...this.#eventsOf(envelope, 'out', meaning))
      messages.push({ envelope, committed: meaning.onCommitted, again })
    }
    if (events.length === 0) return
    this.#addInbound(bytes)
    const committed = this.#fromAgent.append(events)
    this.#inboundTail = Promise.all([this.#inboundTail, committed]).then(
      () => {
        this.#addInbound(-bytes)
        for (const { envelope, committed: settle, again } of messages) {
          settle?.()
          this.#deliver(envelope, again)
        }
        // What it said is lost, and with it perhaps the answer that somebody waits for.
        if (this.#fault !== undefined) void this.end(0).catch(() => undefined)
      },
      () => this.#lost(),
    )
  }

  /** Whether it asks something under an id that waits for an answer. */
  #isOpenAlready(envelope: Envelope): boolean {
    if (envelope.kind !== 'request') return false
    const key = idKey(envelope.id)
    if (this.#open.has(key)) return true
    this.#open.add(key)
    return false
  }

  /** A limit that bites says so. */
  #tooMuch({ bytes, tooLong }: Garbage): EventInput[] {
    this.#unparsedBytes += bytes.length
    if (this.#fault !== undefined) return []
    if (!tooLong && this.#unparsedBytes < maxUnparsedBytes) return []
    const [limit, max] = tooLong
      ? ['agent.messageBytes', this.#maxMessageBytes]
      : ['agent.unparsedBytes', maxUnparsedBytes]
    this.#fault = tooLong
      ? `it sent a message of more than ${max} bytes.`
      : `it does not speak the Agent Client Protocol: ${max} bytes of its output were no message. Look at \`agent.unparsed\` in the journal, and at its command.`
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

  #eventsOf(envelope: Envelope, direction: Direction, meaning: Interpretation): readonly EventInput[] {
    const { context, replay, events = [], replacement: instead } = meaning
    if (instead !== undefined) return instead
    const { instance } = this
    const data = { instance, direction, message: envelope.message, ...(replay && { replay: true }) }
    return [{ ...context, type: 'agent.message', data }, ...events]
  }

  #deliver(envelope: Envelope, again: boolean): void {
    if (envelope.kind === 'response') this.#answered(envelope.id, envelope.message)
    else if (envelope.kind === 'request') this.#ask(envelope.id, envelope.message, again)
    else
      for (const party of this.#parties)
        if (party.wantsNotification(envelope.method)) party.deliver(envelope.message)
  }

  #answered(id: JsonRpcId, message: AnyResponse): void {
    const asked = typeof id === 'number' ? this.#asked.get(id) : undefined
    if (typeof id !== 'number' || asked === undefined) {
      this.#note(`The agent ${this.agent} answered a request that nobody waits for (id ${String(id)}).`)
      return
    }
    this.#asked.delete(id)
    asked.party.deliver({ ...message, id: asked.id })
  }

  #ask(id: JsonRpcId, message: AnyRequest, again: boolean): void {
    if (again) {
      const why = `A request with the id ${String(id)} is open already.`
      this.#refuse(errorResponse(id, invalidRequest, why), {})
      return
    }
    const answering = [...this.#parties].filter((party) => party.handlesRequest(message.method))
    for (const party of answering) party.deliver(message)
    if (answering.length > 0) return
    this.#open.delete(idKey(id))
    const why = `Nobody here answers ${message.method.slice(0, 200)}.`
    this.#refuse(errorResponse(id, methodNotFound, why))
  }

  /** What we say by ourselves, as often as the agent makes us: it is weighed until the agent has taken it. */
  #refuse(answer: AnyResponse, known?: Interpretation): void {
    const bytes = JSON.stringify(answer).length + messageBytes
    this.#addOutbound(bytes)
    this.#write(answer, known)
      .catch(() => undefined)
      .finally(() => this.#addOutbound(-bytes))
  }

  /** From a party to the agent. */
  #send(party: BridgeClient, message: AnyMessage): Promise<void> {
    if (this.#exit !== undefined) return Promise.reject(this.exitError())
    const envelope = envelopeOf(message)
    if (envelope === undefined)
      return Promise.reject(new VitrineError('argument_invalid', 'message: expected a JSON-RPC message.'))
    if (envelope.kind === 'notification') return this.#write(envelope.message)
    if (envelope.kind === 'request') {
      this.#nextId += 1
      this.#asked.set(this.#nextId, { party, id: envelope.id })
      return this.#write({ ...envelope.message, id: this.#nextId })
    }
    const key = idKey(envelope.id)
    const isOpen = this.#open.delete(key)
    this.#updateBackpressure()
    if (!isOpen) {
      this.#note(
        `${party.name} answered a request of ${this.agent} that is not open (id ${String(envelope.id)}).`,
      )
      return Promise.resolve()
    }
    for (const other of this.#parties) if (other !== party) other.onAnsweredByOther(envelope.message)
    return this.#write(envelope.message)
  }

  #write(message: AnyMessage, known?: Interpretation): Promise<void> {
    const envelope = envelopeOf(message)
    if (envelope === undefined) return Promise.resolve()
    const meaning = known ?? this.#options.interpret(envelope, 'in')
    // One after another: the order of the record is the order in which the agent gets them.
    const said = this.#outboundTail.then(async () => {
      await this.#append(this.#eventsOf(envelope, 'in', meaning))
      meaning.onCommitted?.()
    })
    this.#outboundTail = said.catch((error: unknown) => {
      meaning.onCommitFailed?.(error)
      this.#lost()
    })
    // The pipe is waited for outside of the turn: an agent that does not read must still be heard.
    return said.then(() =>
      this.#transport.write(`${JSON.stringify(message)}\n`).catch(() => this.#onBrokenPipe()),
    )
  }

  /** Its pipe is broken: it has ended, or will never hear anything again. */
  async #onBrokenPipe(): Promise<never> {
    await Promise.race([this.closed, sleep(deafMs, undefined, { ref: false })])
    if (this.#exit === undefined) {
      this.#fault ??= 'it has closed its input, and hears nothing any more.'
      await this.end(0)
    }
    throw this.exitError()
  }

  #note(message: string): void {
    const data = { level: 'warn', message, instance: this.instance }
    this.#host.append([{ type: 'log.message', data }]).catch(() => undefined)
  }

  #addInbound(bytes: number): void {
    this.#unhandled += bytes
    this.#updateBackpressure()
  }

  #addOutbound(bytes: number): void {
    this.#unsent += bytes
    this.#updateBackpressure()
  }

  /** Who asks more than it lets be answered is not read meanwhile: it waits, and our memory does not grow. */
  #updateBackpressure(): void {
    const unsent = this.#isGone ? 0 : this.#unsent
    const open = this.#isGone ? 0 : this.#open.size
    const isMuch = this.#unhandled > highWater || unsent > highWater || open > maxOpenRequests
    const isLittle = this.#unhandled < lowWater && unsent < lowWater && open < fewOpenRequests
    if (!this.#held && isMuch) {
      this.#held = true
      this.#transport.pause()
      if (open > maxOpenRequests) this.#reportBackpressure()
    } else if (this.#held && isLittle) {
      this.#held = false
      this.#transport.resume()
    }
  }

  /** A limit that bites says so; once, for it may bite all the time. */
  #reportBackpressure(): void {
    if (this.#saidHeld) return
    this.#saidHeld = true
    const { agent, instance } = this
    const data = { limit: 'agent.openRequests', max: maxOpenRequests, agent, instance }
    this.#host.append([{ type: 'limit.reached', data }]).catch(() => undefined)
  }

  /** A failing disk is waited for. */
  async #append(events: readonly EventInput[]): Promise<void> {
    for (;;) {
      try {
        await this.#host.append(events)
        return
      } catch (error) {
        if (!isVitrineError(error) || error.retryable !== true || this.#exit !== undefined) throw error
        await sleep(retryMs)
      }
    }
  }

  /** What cannot be put on record must not go on. */
  #lost(): void {
    if (this.#exit === undefined) void this.end(0).catch(() => undefined)
  }
}
