import type { JsonObject } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import { textIn } from './fields.ts'

const maxText = 2_000
const openStates = new Set(['pending', 'in_progress'])

/** State of a running turn that its end is computed from. */
export class ActiveTurn {
  readonly startedAt = performance.now()
  lastMessageAt = this.startedAt
  readonly #answered = Promise.withResolvers<void>()
  #isAnswered = false
  /** Number of updates that come from a model: text, thoughts and tool calls. */
  updates = 0
  #text = ''
  /** Open tool calls, each with a lower bound of its start. */
  readonly #openTools = new Map<string, number>()
  readonly #closedTools = new Set<string>()
  readonly #now: () => number
  readonly #onAnswered: () => void
  /** When the last tool call ended; initially the start of the turn. */
  #lastToolEnd: number

  constructor({ now, onAnswered }: { now(): number; onAnswered(): void }) {
    this.#now = now
    this.#onAnswered = onAnswered
    this.#lastToolEnd = now()
  }

  /** Whether the agent has responded to the prompt. Later messages belong to no turn. */
  get answered(): boolean {
    return this.#isAnswered
  }

  setAnswered(): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#answered.resolve()
    this.#onAnswered()
  }

  /** Settles with the response to the prompt, or after `ms`. */
  async waitForAnswer(ms: number): Promise<void> {
    await settledWithin(this.#answered.promise, ms)
  }

  /** The beginning of the agent's last message. */
  get text(): string {
    return this.#text
  }

  get openTools(): readonly string[] {
    return [...this.#openTools.keys()]
  }

  /** Lower bound for when the oldest open tool call started; its processes may predate the notification. */
  get openSince(): number | undefined {
    return this.#openTools.size === 0 ? undefined : Math.min(...this.#openTools.values())
  }

  applyUpdate(update: JsonObject): void {
    const kind = update.sessionUpdate
    if (kind === 'agent_message_chunk') {
      this.updates += 1
      if (this.#text.length < maxText) this.#text += textIn(update.content, 'text') ?? ''
    } else if (kind === 'agent_thought_chunk') this.updates += 1
    else if (kind === 'tool_call' || kind === 'tool_call_update') this.applyToolCall(update)
  }

  /** Applies a tool call or an update of one; agents may send the update first. */
  applyToolCall(call: JsonObject): void {
    const id = textIn(call, 'toolCallId')
    if (id === undefined) return
    this.updates += 1
    this.#text = ''
    const status = textIn(call, 'status')
    if (status !== undefined && !openStates.has(status)) {
      this.#openTools.delete(id)
      this.#closedTools.add(id)
      this.#lastToolEnd = this.#now()
      return
    }
    const isNew = !this.#openTools.has(id) && !this.#closedTools.has(id)
    if (isNew && (status !== undefined || call.sessionUpdate !== 'tool_call_update'))
      this.#openTools.set(id, this.#lastToolEnd)
  }
}
