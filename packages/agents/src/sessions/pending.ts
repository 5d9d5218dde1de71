import type { JsonRpcId } from '@agentclientprotocol/sdk'
import {
  type EventContext,
  type EventInput,
  type JsonObject,
  newId,
  type Outcome,
  type PendingPermission,
  type PendingQuestion,
  type PermissionAnswer,
  type QuestionAnswer,
} from '@vitrine/protocol'
import { listIn, objectIn, textIn } from './fields.ts'
import { chooseOption } from './permissions.ts'

/** A permission or question that an agent waits for. It gets exactly one answer. */
interface PendingRequest {
  readonly id: string
  readonly request: JsonRpcId
  readonly context: EventContext
  /** The result for the agent. */
  readonly answer: Promise<JsonObject>
  /** Settles once the answer is committed. */
  readonly recorded: Promise<void>
  /** Whether it already has an answer. */
  readonly decided: boolean
  /** The `*.requested` event. */
  requested(): EventInput
  /** The `*.resolved` event, once the response is known. */
  resolved(response: unknown): EventInput
  setRecorded(): void
  /** The answer could not be committed. */
  setRecordFailed(error: unknown): void
  /** Cancels the request, because the turn or the agent has ended. */
  cancel(by: string, outcome?: Outcome): void
}

/** The person or program that responded, and the context of its call. */
export interface Responder {
  readonly by: string
  readonly context?: EventContext
}

interface Decision extends Responder {
  readonly outcome: Outcome
}

abstract class PendingAnswer {
  readonly request: JsonRpcId
  readonly context: EventContext
  readonly #answer = Promise.withResolvers<JsonObject>()
  readonly #recorded = Promise.withResolvers<void>()
  protected decision: Decision | undefined

  constructor(request: JsonRpcId, context: EventContext) {
    this.request = request
    this.context = context
    this.#recorded.promise.catch(() => undefined)
  }

  get answer(): Promise<JsonObject> {
    return this.#answer.promise
  }

  get recorded(): Promise<void> {
    return this.#recorded.promise
  }

  get decided(): boolean {
    return this.decision !== undefined
  }

  setRecorded(): void {
    this.#recorded.resolve()
  }

  setRecordFailed(error: unknown): void {
    this.#recorded.reject(error)
  }

  /** The context of the `*.resolved` event: that of the request, with the caller and actor who responded. */
  protected get resolvedContext(): EventContext {
    return { ...this.context, ...this.decision?.context }
  }

  protected decide(decision: Decision, answer: JsonObject): void {
    if (this.decision !== undefined) return
    this.decision = decision
    this.#answer.resolve(answer)
  }
}

/** A `session/request_permission` of the agent. */
export class Permission extends PendingAnswer implements PendingRequest {
  readonly id = newId('permission')
  readonly pending: PendingPermission
  readonly #facts: JsonObject

  constructor(request: JsonRpcId, context: EventContext, params: unknown, facts: JsonObject) {
    super(request, context)
    this.#facts = facts
    this.pending = {
      id: this.id,
      toolCall: objectIn(params, 'toolCall') ?? {},
      options: listIn(params, 'options').map((option) => ({
        id: textIn(option, 'optionId') ?? '',
        name: textIn(option, 'name') ?? '',
        kind: textIn(option, 'kind') ?? '',
      })),
    }
  }

  /** Throws when the answer is not one of the offered options. */
  respond(answer: PermissionAnswer, responder: Responder, outcome: Outcome = 'ok'): void {
    const option = chooseOption(this.pending.options, answer)
    if (option === undefined)
      this.decide(
        { outcome: outcome === 'ok' ? 'cancelled' : outcome, ...responder },
        { outcome: { outcome: 'cancelled' } },
      )
    else this.decide({ outcome, ...responder }, { outcome: { outcome: 'selected', optionId: option.id } })
  }

  cancel(by: string, outcome: Outcome = 'cancelled'): void {
    this.respond('cancelled', { by }, outcome)
  }

  requested(): EventInput {
    const { toolCall, options } = this.pending
    const data = { permission: this.id, toolCall, options, ...this.#facts }
    return { ...this.context, type: 'permission.requested', derived: true, data }
  }

  resolved(response: unknown): EventInput {
    const chosen = textIn(objectIn(response, 'outcome'), 'optionId')
    const option = this.pending.options.find(({ id }) => id === chosen)
    const { outcome, by } = this.decision ?? {
      outcome: chosen === undefined ? 'cancelled' : 'ok',
      by: 'other-client',
    }
    const data = {
      permission: this.id,
      outcome,
      answer: option?.kind ?? 'cancelled',
      ...(chosen !== undefined && { option: chosen }),
      by,
    }
    return { ...this.resolvedContext, type: 'permission.resolved', derived: true, data }
  }
}

/** An `elicitation/create` of the agent, or a request to approve a plan. */
export class Question extends PendingAnswer implements PendingRequest {
  readonly id = newId('question')
  readonly pending: PendingQuestion
  readonly #facts: JsonObject
  readonly #toResult: (answer: QuestionAnswer) => JsonObject
  #given: QuestionAnswer | undefined

  constructor(
    request: JsonRpcId,
    context: EventContext,
    fields: Omit<PendingQuestion, 'id'>,
    facts: JsonObject,
    toResult: (answer: QuestionAnswer) => JsonObject,
  ) {
    super(request, context)
    this.#facts = facts
    this.#toResult = toResult
    this.pending = { id: this.id, ...fields }
  }

  respond(answer: QuestionAnswer, responder: Responder, outcome: Outcome = 'ok'): void {
    const wire = this.#toResult(answer)
    this.#given ??= answer
    this.decide({ outcome, ...responder }, wire)
  }

  cancel(by: string, outcome: Outcome = 'cancelled'): void {
    this.respond({ action: 'cancel' }, { by }, outcome)
  }

  requested(): EventInput {
    const { id: question, ...fields } = this.pending
    return {
      ...this.context,
      type: 'question.requested',
      derived: true,
      data: { question, ...fields, ...this.#facts },
    }
  }

  resolved(response: unknown): EventInput {
    const { outcome, by } = this.decision ?? { outcome: 'ok', by: 'other-client' }
    const { action, content } = this.#given ?? {
      action: textIn(response, 'action') ?? 'accept',
      content: objectIn(response, 'content'),
    }
    const data = { question: this.id, outcome, action, ...(content !== undefined && { content }), by }
    return { ...this.resolvedContext, type: 'question.resolved', derived: true, data }
  }
}

/** Creates a question from `elicitation/create`. */
export function elicitation(request: JsonRpcId, context: EventContext, params: unknown): Question {
  const mode = textIn(params, 'mode') === 'url' ? 'url' : 'form'
  const schema = objectIn(params, 'requestedSchema')
  const url = textIn(params, 'url')
  const fields = {
    message: textIn(params, 'message') ?? '',
    mode,
    ...(schema !== undefined && { schema }),
    ...(url !== undefined && { url }),
  } as const
  return new Question(request, context, fields, { about: 'elicitation' }, ({ action, content }) => ({
    action,
    ...(action === 'accept' && { content: content ?? {} }),
  }))
}

/** Creates a question from a plan: agents request its approval as a permission to change the mode. */
export function planApproval(
  request: JsonRpcId,
  context: EventContext,
  permission: PendingPermission,
): Question {
  const { toolCall, options } = permission
  const schema: JsonObject = {
    type: 'object',
    required: ['choice'],
    properties: {
      choice: { type: 'string', oneOf: options.map(({ id, name }) => ({ const: id, title: name })) },
    },
  }
  const fields = {
    message: textIn(toolCall, 'title') ?? 'Is this plan right?',
    mode: 'form',
    schema,
  } as const
  return new Question(request, context, fields, { about: 'plan', toolCall, options }, (answer) => {
    const choice = answer.content?.choice
    if (answer.action === 'cancel') return { outcome: { outcome: 'cancelled' } }
    const wanted =
      typeof choice === 'string'
        ? { option: choice }
        : answer.action === 'accept'
          ? 'allow_once'
          : 'reject_once'
    const option = chooseOption(options, wanted)
    return {
      outcome: option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.id },
    }
  })
}
