import {
  type EventContext,
  type EventInput,
  type JsonObject,
  type PendingPermission,
  type PendingQuestion,
  type PermissionAnswer,
  type QuestionAnswer,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, sessionOptions } from '@vitrine/protocol/options'
import { idKey, type RpcEnvelope } from '../bridge/rpc-envelope.ts'
import { textIn } from './fields.ts'
import { elicitation, Permission, planApproval, type Question, type Responder } from './pending.ts'
import { type CompleteRules, ruleFor } from './permissions.ts'

/** The open permissions and questions of a session. Each is answered once: by a rule, by a caller, or by a timeout. */
export class PendingRequests {
  readonly #rules: CompleteRules
  readonly #permissions = new Map<string, Permission>()
  readonly #questions = new Map<string, Question>()

  constructor(rules: CompleteRules) {
    this.#rules = rules
  }

  get size(): number {
    return this.#permissions.size + this.#questions.size
  }

  get permissions(): readonly PendingPermission[] {
    return [...this.#permissions.values()].filter(({ decided }) => !decided).map(({ pending }) => pending)
  }

  get questions(): readonly PendingQuestion[] {
    return [...this.#questions.values()].filter(({ decided }) => !decided).map(({ pending }) => pending)
  }

  /** Registers a request of the agent before it is recorded, if it is a permission or a question. */
  add(
    envelope: RpcEnvelope & { kind: 'request' },
    context: EventContext,
    params: unknown,
    facts: JsonObject,
  ): Permission | Question | undefined {
    const key = idKey(envelope.id)
    if (envelope.method === 'elicitation/create') {
      const question = elicitation(envelope.id, context, params)
      this.#questions.set(key, question)
      return question
    }
    if (envelope.method !== 'session/request_permission') return undefined
    const permission = new Permission(envelope.id, context, params, facts)
    const { toolCall } = permission.pending
    if (textIn(toolCall, 'kind') === 'switch_mode' && ruleFor(this.#rules, 'switch_mode') === 'ask') {
      const question = planApproval(envelope.id, context, permission.pending)
      this.#questions.set(key, question)
      return question
    }
    this.#permissions.set(key, permission)
    // A rule decides at once, so no caller can answer differently.
    this.#applyRule(permission)
    return permission
  }

  /** Removes a request whose response is being sent to the agent. */
  take(key: string): Permission | Question | undefined {
    const pending = this.#permissions.get(key) ?? this.#questions.get(key)
    this.#permissions.delete(key)
    this.#questions.delete(key)
    return pending
  }

  /** Adds a request again whose response could not be recorded. */
  putBack(pending: Permission | Question): void {
    const key = idKey(pending.request)
    if (pending instanceof Permission) this.#permissions.set(key, pending)
    else this.#questions.set(key, pending)
  }

  /** Resolves with the result for the agent; undefined when no permission or question has this key. */
  async answerTo(key: string): Promise<JsonObject | undefined> {
    const permission = this.#permissions.get(key)
    if (permission !== undefined)
      return this.#withTimeout(permission.answer, () => this.#onTimeout(permission))
    const question = this.#questions.get(key)
    if (question === undefined) return undefined
    return this.#withTimeout(question.answer, () => question.cancel('timeout', 'timeout'))
  }

  #applyRule(permission: Permission): void {
    const rule = ruleFor(this.#rules, textIn(permission.pending.toolCall, 'kind') ?? 'other')
    if (rule === 'ask') return
    try {
      permission.respond(rule, { by: 'rule' })
    } catch {
      // The agent does not offer the kind that the rule asks for: use any option that allows, or cancel.
      const allow = permission.pending.options.find(({ kind }) => kind.startsWith('allow'))
      permission.respond(allow === undefined ? 'cancelled' : { option: allow.id }, { by: 'rule' })
    }
  }

  /** Answers with `onTimeout` of the rules; cancels when the agent does not offer that. */
  #onTimeout(permission: Permission): void {
    try {
      permission.respond(this.#rules.onTimeout, { by: 'timeout' }, 'timeout')
    } catch {
      permission.cancel('timeout', 'timeout')
    }
  }

  #withTimeout(answer: Promise<JsonObject>, onTimeout: () => void): Promise<JsonObject> {
    const timer = setTimeout(onTimeout, this.#rules.timeoutMs)
    timer.unref()
    return answer.finally(() => clearTimeout(timer))
  }

  async respondPermission(id: string, answer: PermissionAnswer, by: Responder): Promise<void> {
    const permission = [...this.#permissions.values()].find((one) => one.id === id)
    if (permission === undefined || permission.decided)
      throw new VitrineError('permission_not_pending', `The permission ${id} is not pending.`)
    permission.respond(answer, by)
    await permission.recorded
  }

  async respondQuestion(id: string, answer: QuestionAnswer, by: Responder): Promise<void> {
    const question = [...this.#questions.values()].find((one) => one.id === id)
    if (question === undefined || question.decided)
      throw new VitrineError('question_not_pending', `The question ${id} is not pending.`)
    checkOptions('respondQuestion', sessionOptions.answer, answer)
    question.respond(answer, by)
    await question.recorded
  }

  /** Cancels all of them; settles once their cancellations are committed. */
  async cancelAll(by: string): Promise<void> {
    const pending = [...this.#permissions.values(), ...this.#questions.values()]
    for (const request of pending) request.cancel(by)
    await Promise.allSettled(pending.map(({ recorded }) => recorded))
  }

  /** Ends the requests of an agent that has exited, and returns their `*.resolved` events. */
  orphaned(): EventInput[] {
    const pending = [...this.#permissions.values(), ...this.#questions.values()]
    this.#permissions.clear()
    this.#questions.clear()
    return pending.map((request) => {
      request.cancel('agent-exit', 'interrupted')
      request.setRecorded()
      return request.resolved(undefined)
    })
  }
}
