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

/** Something that an agent waits for: a permission or an answer. It is asked once and answered once. */
interface PendingFields {
  readonly id: string
  readonly request: JsonRpcId
  readonly context: EventContext
  /** What the agent is answered with. */
  readonly answer: Promise<JsonObject>
  /** Settles once the answer is on record. */
  readonly recorded: Promise<void>
  /** Whether it has been decided already. */
  readonly decided: boolean
  /** The event of its beginning, and that of its end once the answer is known. */
  requested(): EventInput
  resolved(response: unknown): EventInput
  setRecorded(): void
  /** It could not be put on record. */
  setLost(error: unknown): void
  /** Called off: the turn or the agent is over. */
  cancel(by: string, outcome?: Outcome): void
}

interface Decision {
  readonly outcome: Outcome
  readonly by: string
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

  setLost(error: unknown): void {
    this.#recorded.reject(error)
  }

  protected decide(decision: Decision, answer: JsonObject): void {
    if (this.decision !== undefined) return
    this.decision = decision
    this.#answer.resolve(answer)
  }
}

/** An agent's `session/request_permission`. */
export class Permission extends PendingAnswer implements PendingFields {
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

  /** Throws when there is no such answer. */
  respond(answer: PermissionAnswer, by: string, outcome: Outcome = 'ok'): void {
    const option = chooseOption(this.pending.options, answer)
    if (option === undefined)
      this.decide(
        { outcome: outcome === 'ok' ? 'cancelled' : outcome, by },
        { outcome: { outcome: 'cancelled' } },
      )
    else this.decide({ outcome, by }, { outcome: { outcome: 'selected', optionId: option.id } })
  }

  cancel(by: string, outcome: Outcome = 'cancelled'): void {
    this.respond('cancelled', by, outcome)
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
      by: 'another party',
    }
    const data = {
      permission: this.id,
      outcome,
      answer: option?.kind ?? 'cancelled',
      ...(chosen !== undefined && { option: chosen }),
      by,
    }
    return { ...this.context, type: 'permission.resolved', derived: true, data }
  }
}

/** An agent's `elicitation/create`, or the approval of a plan. */
export class Question extends PendingAnswer implements PendingFields {
  readonly id = newId('question')
  readonly pending: PendingQuestion
  readonly #facts: JsonObject
  readonly #toAnswer: (answer: QuestionAnswer) => JsonObject
  #given: QuestionAnswer | undefined

  constructor(
    request: JsonRpcId,
    context: EventContext,
    asked: Omit<PendingQuestion, 'id'>,
    facts: JsonObject,
    toAnswer: (answer: QuestionAnswer) => JsonObject,
  ) {
    super(request, context)
    this.#facts = facts
    this.#toAnswer = toAnswer
    this.pending = { id: this.id, ...asked }
  }

  respond(answer: QuestionAnswer, by: string, outcome: Outcome = 'ok'): void {
    const wire = this.#toAnswer(answer)
    this.#given ??= answer
    this.decide({ outcome, by }, wire)
  }

  cancel(by: string, outcome: Outcome = 'cancelled'): void {
    this.respond({ action: 'cancel' }, by, outcome)
  }

  requested(): EventInput {
    const { id: question, ...asked } = this.pending
    return {
      ...this.context,
      type: 'question.requested',
      derived: true,
      data: { question, ...asked, ...this.#facts },
    }
  }

  resolved(response: unknown): EventInput {
    const { outcome, by } = this.decision ?? { outcome: 'ok', by: 'another party' }
    const { action, content } = this.#given ?? {
      action: textIn(response, 'action') ?? 'accept',
      content: objectIn(response, 'content'),
    }
    const data = { question: this.id, outcome, action, ...(content !== undefined && { content }), by }
    return { ...this.context, type: 'question.resolved', derived: true, data }
  }
}

/** An elicitation of the Agent Client Protocol. */
export function elicitation(request: JsonRpcId, context: EventContext, params: unknown): Question {
  const mode = textIn(params, 'mode') === 'url' ? 'url' : 'form'
  const schema = objectIn(params, 'requestedSchema')
  const url = textIn(params, 'url')
  const asked = {
    message: textIn(params, 'message') ?? '',
    mode,
    ...(schema !== undefined && { schema }),
    ...(url !== undefined && { url }),
  } as const
  return new Question(request, context, asked, { about: 'elicitation' }, ({ action, content }) => ({
    action,
    ...(action === 'accept' && { content: content ?? {} }),
  }))
}

/** A plan that waits to be approved: agents ask for it as for a permission to change the mode. */
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
  const asked = { message: textIn(toolCall, 'title') ?? 'Is this plan right?', mode: 'form', schema } as const
  return new Question(request, context, asked, { about: 'plan', toolCall, options }, (answer) => {
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
