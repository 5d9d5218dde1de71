import type { EventContext, EventInput, JsonObject } from '@vitrine/protocol'
import { hasTooManyValues, withinEventValues } from '@vitrine/protocol/primitives'
import type { Direction, Interpretation } from '../bridge/bridge.ts'
import { foreignMethod } from '../bridge/function-transport.ts'
import { idKey, type RpcEnvelope } from '../bridge/rpc-envelope.ts'
import type { ActiveTurn } from './active-turn.ts'
import type { ChosenOptions } from './chosen-options.ts'
import { objectIn, textIn } from './fields.ts'
import type { PendingRequests } from './pending-requests.ts'
import type { ReportedUsage } from './reported-usage.ts'

/** The most fields of a foreign event that are stored beside one another. */
const maxFields = 1_000

/** The session that the messages belong to. */
interface SessionFacts {
  readonly id: string
  readonly agentSession: string
  readonly answers: PendingRequests
  readonly context: EventContext
  readonly reported: ReportedUsage
  /** The running turn, until the agent has responded to its prompt. */
  readonly turn: ActiveTurn | undefined
}

/** Derives events from the messages of a session. Its title and options change only after these are committed. */
export class MessageInterpreter {
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

  /** Interprets a request or a notification. */
  interpret(
    envelope: Exclude<RpcEnvelope, { kind: 'response' }>,
    direction: Direction,
    params: unknown,
    history: 'live' | 'replay',
  ): Interpretation {
    const { context, turn, answers } = this.#session
    if (history === 'replay') return { context, replay: true }
    if (direction === 'in') return { context }
    if (turn !== undefined) turn.lastMessageAt = performance.now()
    if (envelope.kind === 'request') {
      turn?.applyToolCall(objectIn(params, 'toolCall') ?? {})
      const pending = answers.add(envelope, context, params, this.#childSession(params))
      return pending === undefined ? { context } : { context, events: [pending.requested()] }
    }
    if (envelope.method === foreignMethod) return foreign(context, params)
    const update = envelope.method === 'session/update' ? objectIn(params, 'update') : undefined
    if (update === undefined) return { context }
    turn?.applyUpdate(update)
    this.#session.reported.applyUpdate(update)
    const changed = this.#changedBy(update)
    if (changed === undefined) return { context }
    return { context, events: [sessionUpdated(this.#session.id, changed.data)], onCommitted: changed.apply }
  }

  /** Interprets a response, in either direction. */
  interpretResponse(
    method: string,
    envelope: RpcEnvelope & { kind: 'response' },
    direction: Direction,
  ): Interpretation {
    const { context, turn, answers } = this.#session
    if (direction === 'out') {
      if (method === 'session/prompt') turn?.setAnswered()
      return { context }
    }
    const pending = answers.take(idKey(envelope.id))
    if (pending === undefined) return { context }
    const result = 'result' in envelope.message ? envelope.message.result : undefined
    return {
      context,
      events: [pending.resolved(result)],
      onCommitted: () => pending.setRecorded(),
      onCommitFailed: (error) => {
        pending.setRecordFailed(error)
        // It is still open on record, and is ended with its turn.
        answers.putBack(pending)
      },
    }
  }

  /** Reads an update of the session itself (options or title), not of the conversation. */
  #changedBy(update: JsonObject): { readonly data: UpdatedData; apply(): void } | undefined {
    if (this.#options.applyUpdate(update)) {
      const { latest } = this.#options
      return { data: { options: latest }, apply: () => this.#options.setRecorded(latest) }
    }
    if (update.sessionUpdate !== 'session_info_update' || !('title' in update)) return undefined
    const title = textIn(update, 'title')
    const apply = () => {
      this.#title = title
    }
    return { data: { title: title ?? null }, apply }
  }

  #childSession(params: unknown): JsonObject {
    const agentSession = textIn(params, 'sessionId')
    return agentSession === undefined || agentSession === this.#session.agentSession ? {} : { agentSession }
  }
}

type UpdatedData = NonNullable<EventInput['data']>

/** The event for a changed title or changed options of a session. */
export function sessionUpdated(session: string, data: UpdatedData): EventInput {
  return { type: 'session.updated', session, derived: true, data: withinEventValues(data) }
}

/** Never rejects an event for its shape: a value that is not an event becomes the data of one. */
function foreign(context: EventContext, params: unknown): Interpretation {
  const event = objectIn(params, 'event') ?? {}
  const { type, id } = event
  const isEvent = typeof type === 'string' && (id === undefined || typeof id === 'string')
  const whole = isEvent ? { data: null, ...event, type } : { type: 'unknown', data: event }
  // As text it becomes a blob, which has no bound of values or fields.
  const text = () => ({
    ...(isEvent ? { type, ...(id !== undefined && { id }) } : { type: 'unknown' }),
    data: JSON.stringify(event),
    encoding: 'json',
  })
  const data = Object.keys(event).length > maxFields || hasTooManyValues(whole) ? text() : whole
  return { replacement: [{ ...context, type: 'foreign.event', data }] }
}
