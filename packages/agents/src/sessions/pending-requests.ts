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
import { type Envelope, idKey } from '../bridge/envelope.ts'
import { textIn } from './fields.ts'
import { elicitation, Permission, planApproval, type Question } from './pending.ts'
import { ruleFor, type SettledRules } from './permissions.ts'

/** What the agent of a session waits for. Each is asked once, and answered once: by a rule, by somebody, or by the clock. */
export class PendingRequests {
  readonly #rules: SettledRules
  readonly #permissions = new Map<string, Permission>()
  readonly #questions = new Map<string, Question>()

  constructor(rules: SettledRules) {
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

  /** A request of the agent, before it is written: what it asks for, if it is one of these. */
  ask(
    envelope: Envelope & { kind: 'request' },
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
    // What a rule decides waits for nobody, and nobody can decide otherwise.
    this.#applyRule(permission)
    return permission
  }

  /** Its answer is on its way to the agent: it waits no longer. */
  take(key: string): Permission | Question | undefined {
    const waiting = this.#permissions.get(key) ?? this.#questions.get(key)
    this.#permissions.delete(key)
    this.#questions.delete(key)
    return waiting
  }

  /** What the agent is answered with, once that is known; nothing when it waits for nothing under this key. */
  async answerTo(key: string): Promise<JsonObject | undefined> {
    const permission = this.#permissions.get(key)
    if (permission !== undefined) return this.#untilTimeout(permission.answer, () => this.#giveUp(permission))
    const question = this.#questions.get(key)
    if (question === undefined) return undefined
    return this.#untilTimeout(question.answer, () => question.cancel('time limit', 'timeout'))
  }

  #applyRule(permission: Permission): void {
    const rule = ruleFor(this.#rules, textIn(permission.pending.toolCall, 'kind') ?? 'other')
    if (rule === 'ask') return
    try {
      permission.respond(rule, 'rule')
    } catch {
      // What the rule grants is not offered in that form: whatever grants it, or nothing.
      const allow = permission.pending.options.find(({ kind }) => kind.startsWith('allow'))
      permission.respond(allow === undefined ? 'cancelled' : { option: allow.id }, 'rule')
    }
  }

  /** Nobody came; what the rules then say may not be on offer. */
  #giveUp(permission: Permission): void {
    try {
      permission.respond(this.#rules.onTimeout, 'time limit', 'timeout')
    } catch {
      permission.cancel('time limit', 'timeout')
    }
  }

  #untilTimeout(answer: Promise<JsonObject>, late: () => void): Promise<JsonObject> {
    const timer = setTimeout(late, this.#rules.timeoutMs)
    timer.unref()
    return answer.finally(() => clearTimeout(timer))
  }

  async respondPermission(id: string, answer: PermissionAnswer, by: string): Promise<void> {
    const permission = [...this.#permissions.values()].find((one) => one.id === id)
    if (permission === undefined || permission.decided)
      throw new VitrineError('permission_not_pending', `The permission ${id} waits for no answer.`)
    permission.respond(answer, by)
    await permission.recorded
  }

  async respondQuestion(id: string, answer: QuestionAnswer, by: string): Promise<void> {
    const question = [...this.#questions.values()].find((one) => one.id === id)
    if (question === undefined || question.decided)
      throw new VitrineError('question_not_pending', `The question ${id} waits for no answer.`)
    checkOptions('respondQuestion', sessionOptions.answer, answer)
    question.respond(answer, by)
    await question.recorded
  }

  /** Settles once all of them are on record as called off. */
  async cancelAll(by: string): Promise<void> {
    const waiting = [...this.#permissions.values(), ...this.#questions.values()]
    for (const one of waiting) one.cancel(by)
    await Promise.allSettled(waiting.map(({ recorded }) => recorded))
  }

  /** An agent that is gone gets no answer: what it asked for ends with it. */
  orphaned(): EventInput[] {
    const waiting = [...this.#permissions.values(), ...this.#questions.values()]
    this.#permissions.clear()
    this.#questions.clear()
    return waiting.map((one) => {
      one.cancel('the end of the agent', 'interrupted')
      one.setRecorded()
      return one.resolved(undefined)
    })
  }
}
