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
import { remember } from './history.ts'
import { pause } from './pause.ts'
import type { DemoSession } from './session.ts'
import type { Settings } from './settings.ts'
import type { Wire } from './wire.ts'

export interface TurnParts {
  readonly session: DemoSession
  readonly client: AgentContext
  readonly offered: ClientCapabilities
  readonly settings: Settings
  readonly wire: Wire
  readonly requestId: JsonRpcId
  readonly prompt: readonly ContentBlock[]
  readonly stopping: AbortController
  readonly signal: AbortSignal
}

/** One prompt being answered. All that it waits for ends with its signal. */
export class Turn {
  readonly session: DemoSession
  readonly client: AgentContext
  readonly offered: ClientCapabilities
  readonly settings: Settings
  readonly wire: Wire
  readonly requestId: JsonRpcId
  readonly prompt: readonly ContentBlock[]
  readonly signal: AbortSignal
  stopReason: StopReason = 'end_turn'
  /** The prompt's answer is sent a second time. */
  answerTwice = false
  /** Characters it has said and thought. */
  spoken = 0
  readonly openTools = new Set<string>()
  readonly #stopping: AbortController

  constructor(parts: TurnParts) {
    this.session = parts.session
    this.client = parts.client
    this.offered = parts.offered
    this.settings = parts.settings
    this.wire = parts.wire
    this.requestId = parts.requestId
    this.prompt = parts.prompt
    this.signal = parts.signal
    this.#stopping = parts.stopping
  }

  /** The text of the prompt. */
  get text(): string {
    return this.prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  }

  async send(update: SessionUpdate): Promise<void> {
    this.signal.throwIfAborted()
    await this.sendAnyway(update)
  }

  /** Also after a cancel: for what must be closed. */
  async sendAnyway(update: SessionUpdate): Promise<void> {
    remember(this.session.history, update)
    await this.client.notify('session/update', { sessionId: this.session.id, update })
  }

  async say(text: string, messageId: string = randomUUID()): Promise<void> {
    this.spoken += text.length
    await this.send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, messageId })
  }

  async think(text: string, messageId: string = randomUUID()): Promise<void> {
    this.spoken += text.length
    await this.send({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text }, messageId })
  }

  /** Says it a few words at a time. */
  async tell(text: string): Promise<void> {
    const messageId = randomUUID()
    for (const piece of text.match(/\s*(?:\S+\s*){1,5}/g) ?? [text]) {
      await this.say(piece, messageId)
      await this.pause(35)
    }
  }

  async title(title: string): Promise<void> {
    this.session.title = title
    await this.send({ sessionUpdate: 'session_info_update', title, updatedAt: this.session.updatedAt })
  }

  pause(ms: number): Promise<void> {
    const haste = this.session.choices.model === 'sprinter' ? 0.25 : 1
    return pause(ms * this.settings.pace * haste, this.signal)
  }

  /** Asks the client; a cancelled turn does not wait for the answer. */
  request<Method extends ClientRequestMethod>(
    method: Method,
    params: ClientRequestParamsByMethod[Method],
  ): Promise<ClientRequestResponsesByMethod[Method]> {
    this.signal.throwIfAborted()
    return this.client.request(method, params, this.waiting)
  }

  get waiting(): SendRequestOptions {
    return { cancellationSignal: this.signal, stopWaitingOnCancel: true }
  }

  /** The client took it back in another way than by `session/cancel`. */
  cancel(): never {
    this.#stopping.abort(new Error('cancelled by the client'))
    throw this.signal.reason
  }
}
