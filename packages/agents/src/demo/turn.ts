import { randomUUID } from 'node:crypto'
import type {
  AgentContext,
  ClientCapabilities,
  ClientRequestMethod,
  ClientRequestParamsByMethod,
  ClientRequestResponsesByMethod,
  ContentBlock,
  JsonRpcId,
  SendRequestOptions,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk/unstable'
import type { DemoConnection } from './connection.ts'
import { addToHistory } from './history.ts'
import { pause } from './pause.ts'
import type { DemoSession } from './session.ts'
import type { DemoSettings } from './settings.ts'

export interface TurnParts {
  readonly session: DemoSession
  readonly client: AgentContext
  readonly clientCapabilities: ClientCapabilities
  readonly settings: DemoSettings
  readonly connection: DemoConnection
  readonly requestId: JsonRpcId
  readonly prompt: readonly ContentBlock[]
  readonly cancellation: AbortController
  readonly signal: AbortSignal
}

/** A running turn. Everything it waits for ends when its signal aborts. */
export class Turn {
  readonly session: DemoSession
  readonly client: AgentContext
  readonly clientCapabilities: ClientCapabilities
  readonly settings: DemoSettings
  readonly connection: DemoConnection
  readonly requestId: JsonRpcId
  readonly prompt: readonly ContentBlock[]
  readonly signal: AbortSignal
  stopReason: StopReason = 'end_turn'
  /** Whether the response to the prompt is sent twice. */
  respondTwice = false
  /** Characters of all messages and thoughts so far. */
  outputChars = 0
  /** The ids of the tool calls that have not ended. */
  readonly openToolCalls = new Set<string>()
  readonly #cancellation: AbortController

  constructor(parts: TurnParts) {
    this.session = parts.session
    this.client = parts.client
    this.clientCapabilities = parts.clientCapabilities
    this.settings = parts.settings
    this.connection = parts.connection
    this.requestId = parts.requestId
    this.prompt = parts.prompt
    this.signal = parts.signal
    this.#cancellation = parts.cancellation
  }

  /** The text of the prompt. */
  get text(): string {
    return this.prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  }

  async send(update: SessionUpdate): Promise<void> {
    this.signal.throwIfAborted()
    await this.sendAnyway(update)
  }

  /** Sends an update even after a cancel, to close tool calls. */
  async sendAnyway(update: SessionUpdate): Promise<void> {
    addToHistory(this.session.history, update)
    await this.client.notify('session/update', { sessionId: this.session.id, update })
  }

  /** Sends a message, or one chunk of the message with this id. */
  async say(text: string, messageId: string = randomUUID()): Promise<void> {
    this.outputChars += text.length
    await this.send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, messageId })
  }

  async think(text: string, messageId: string = randomUUID()): Promise<void> {
    this.outputChars += text.length
    await this.send({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text }, messageId })
  }

  /** Sends a message in chunks of a few words. */
  async sayInChunks(text: string): Promise<void> {
    const messageId = randomUUID()
    for (const piece of text.match(/\s*(?:\S+\s*){1,5}/g) ?? [text]) {
      await this.say(piece, messageId)
      await this.pause(35)
    }
  }

  async setTitle(title: string): Promise<void> {
    this.session.title = title
    await this.send({ sessionUpdate: 'session_info_update', title, updatedAt: this.session.updatedAt })
  }

  /** The model `sprinter` is the fast one: it pauses a quarter as long. */
  pause(ms: number): Promise<void> {
    const factor = this.session.choices.model === 'sprinter' ? 0.25 : 1
    return pause(ms * this.settings.pauseFactor * factor, this.signal)
  }

  /** Sends a request to the client; a cancelled turn does not wait for the response. */
  request<Method extends ClientRequestMethod>(
    method: Method,
    params: ClientRequestParamsByMethod[Method],
  ): Promise<ClientRequestResponsesByMethod[Method]> {
    this.signal.throwIfAborted()
    return this.client.request(method, params, this.requestOptions)
  }

  get requestOptions(): SendRequestOptions {
    return { cancellationSignal: this.signal, stopWaitingOnCancel: true }
  }

  /** Cancels the turn, because the client cancelled a permission request instead of sending `session/cancel`. */
  cancel(): never {
    this.#cancellation.abort(new Error('cancelled by the client'))
    throw this.signal.reason
  }
}
