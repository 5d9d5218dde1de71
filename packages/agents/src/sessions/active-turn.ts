import { setTimeout as sleep } from 'node:timers/promises'
import type { EventContext, JsonObject } from '@vitrine/protocol'
import { textIn } from './fields.ts'

const maxText = 2_000
const openStates = new Set(['pending', 'in_progress'])

/** What one turn has seen so far, as much as its end needs. */
export class ActiveTurn {
  readonly id: string
  readonly context: EventContext
  readonly began = performance.now()
  lastHeard = this.began
  readonly #answered = Promise.withResolvers<void>()
  #isAnswered = false
  /** Text, thoughts and tools: what a model causes. */
  updates = 0
  #text = ''
  /** Each with a moment before it began. */
  readonly #openTools = new Map<string, number>()
  readonly #closedTools = new Set<string>()
  readonly #now: () => number
  /** When the last tool call ended; at first the beginning of the turn. */
  #lastEnded: number

  constructor(session: string, id: string, now: () => number) {
    this.id = id
    this.context = { session, turn: id }
    this.#now = now
    this.#lastEnded = now()
  }

  /** Whether the agent has answered the prompt: what follows belongs to no turn. */
  get answered(): boolean {
    return this.#isAnswered
  }

  setAnswered(): void {
    this.#isAnswered = true
    this.#answered.resolve()
  }

  /** Waits for the answer, so long and no longer. */
  async answeredWithin(ms: number): Promise<void> {
    await Promise.race([this.#answered.promise, sleep(ms, undefined, { ref: false })])
  }

  /** The beginning of the last message. */
  get text(): string {
    return this.#text
  }

  get openTools(): readonly string[] {
    return [...this.#openTools.keys()]
  }

  /** A moment before the first tool began that is still open: what it started may be older than the word of it. */
  get openSince(): number | undefined {
    return this.#openTools.size === 0 ? undefined : Math.min(...this.#openTools.values())
  }

  hear(update: JsonObject): void {
    const kind = update.sessionUpdate
    if (kind === 'agent_message_chunk') {
      this.updates += 1
      if (this.#text.length < maxText) this.#text += textIn(update.content, 'text') ?? ''
    } else if (kind === 'agent_thought_chunk') this.updates += 1
    else if (kind === 'tool_call' || kind === 'tool_call_update') this.tool(update)
  }

  /** A tool call in whatever form it is told of; it may be updated before it is created. */
  tool(call: JsonObject): void {
    const id = textIn(call, 'toolCallId')
    if (id === undefined) return
    this.updates += 1
    this.#text = ''
    const status = textIn(call, 'status')
    if (status !== undefined && !openStates.has(status)) {
      this.#openTools.delete(id)
      this.#closedTools.add(id)
      this.#lastEnded = this.#now()
      return
    }
    const isNew = !this.#openTools.has(id) && !this.#closedTools.has(id)
    if (isNew && (status !== undefined || call.sessionUpdate !== 'tool_call_update'))
      this.#openTools.set(id, this.#lastEnded)
  }
}
