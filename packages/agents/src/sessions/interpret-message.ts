import type { EventContext, EventInput, JsonObject } from '@vitrine/protocol'
import type { Direction, Interpretation } from '../bridge/bridge.ts'
import { type Envelope, idKey } from '../bridge/envelope.ts'
import { foreignMethod } from '../bridge/function-transport.ts'
import type { ActiveTurn } from './active-turn.ts'
import type { ChosenOptions } from './chosen-options.ts'
import { objectIn, textIn } from './fields.ts'
import type { PendingRequests } from './pending-requests.ts'

/** The session that messages are of. */
interface SessionFacts {
  readonly id: string
  readonly agentSession: string
  readonly answers: PendingRequests
  readonly context: EventContext
  /** The turn that runs and that the agent has not answered. */
  readonly turn: ActiveTurn | undefined
}

/** What the messages of a session mean beyond themselves. What is shown of that is on record. */
export class MessageMeaning {
  readonly #session: SessionFacts
  readonly #options: ChosenOptions
  #title: string | undefined

  constructor(session: SessionFacts, options: ChosenOptions, title: string | undefined) {
    this.#session = session
    this.#options = options
    this.#title = title
  }

  get title(): string | undefined {
    return this.#title
  }

  /** Of a request or a notification. */
  of(
    envelope: Exclude<Envelope, { kind: 'response' }>,
    direction: Direction,
    params: unknown,
    replay: boolean,
  ): Interpretation {
    const { context, turn, answers } = this.#session
    if (replay) return { context, replay }
    if (direction === 'in') return { context }
    if (turn !== undefined) turn.lastHeard = performance.now()
    if (envelope.kind === 'request') {
      turn?.tool(objectIn(params, 'toolCall') ?? {})
      const asked = answers.ask(envelope, context, params, this.#childSession(params))
      return asked === undefined ? { context } : { context, events: [asked.requested()] }
    }
    if (envelope.method === foreignMethod) return foreign(context, params)
    const update = envelope.method === 'session/update' ? objectIn(params, 'update') : undefined
    if (update === undefined) return { context }
    turn?.hear(update)
    const changed = this.#changedBy(update)
    if (changed === undefined) return { context }
    return { context, events: [updated(this.#session.id, changed.data)], onCommitted: changed.show }
  }

  /** Of an answer to a request, in either direction. */
  ofAnswer(method: string, envelope: Envelope & { kind: 'response' }, direction: Direction): Interpretation {
    const { context, turn, answers } = this.#session
    if (direction === 'out') {
      if (method === 'session/prompt') turn?.setAnswered()
      return { context }
    }
    const waiting = answers.take(idKey(envelope.id))
    if (waiting === undefined) return { context }
    const result = 'result' in envelope.message ? envelope.message.result : undefined
    return {
      context,
      events: [waiting.resolved(result)],
      onCommitted: () => waiting.setRecorded(),
      onCommitFailed: (error) => waiting.setLost(error),
    }
  }

  /** Of what is about the session and not about the conversation: what is new. */
  #changedBy(update: JsonObject): { readonly data: Facts; show(): void } | undefined {
    if (this.#options.hear(update)) {
      const { latest } = this.#options
      return { data: { options: latest }, show: () => this.#options.show(latest) }
    }
    if (update.sessionUpdate !== 'session_info_update' || !('title' in update)) return undefined
    const title = textIn(update, 'title')
    const show = () => {
      this.#title = title
    }
    return { data: { title: title ?? null }, show }
  }

  #childSession(params: unknown): JsonObject {
    const agentSession = textIn(params, 'sessionId')
    return agentSession === undefined || agentSession === this.#session.agentSession ? {} : { agentSession }
  }
}

type Facts = NonNullable<EventInput['data']>

/** Something about a session is other than before. */
export function updated(session: string, data: Facts): EventInput {
  return { type: 'session.updated', session, derived: true, data }
}

/** Never refused for its shape: what has not that of an event is the data of one. */
function foreign(context: EventContext, params: unknown): Interpretation {
  const event = objectIn(params, 'event') ?? {}
  const { type, id } = event
  const isEvent = typeof type === 'string' && (id === undefined || typeof id === 'string')
  const data = isEvent ? { data: null, ...event, type } : { type: 'unknown', data: event }
  return { replacement: [{ ...context, type: 'foreign.event', data }] }
}
