import { type JournalEvent, VitrineError } from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import { settledWithin } from '@vitrine/protocol/primitives'

/** `deny` may give a reason. An invalid answer, an error and a timeout count as `deny`. */
export type GateAnswer = 'allow' | 'deny' | { readonly answer: 'allow' | 'deny'; readonly reason?: string }

export type Gate = (
  start: JournalEvent,
  options: { readonly signal: AbortSignal },
) => GateAnswer | Promise<GateAnswer>

export interface GateOptions {
  /** Only called for these operations; default all. */
  readonly ops?: readonly string[]
  /** How long the gate may take to answer; default 30 s. */
  readonly timeoutMs?: number
}

export interface GateDecision {
  readonly gate: string
  readonly answer: 'allow' | 'deny'
  readonly reason?: string
  readonly durationMs: number
}

interface RegisteredGate {
  readonly name: string
  readonly gate: Gate
  readonly ops: readonly string[] | undefined
  readonly timeoutMs: number
}

/** The gates of one journal, called in the order they were added. */
export class Gates {
  readonly #registered: RegisteredGate[] = []

  get size(): number {
    return this.#registered.length
  }

  add(name: string, gate: Gate, options: GateOptions = {}): () => void {
    if (typeof name !== 'string' || name === '')
      throw new VitrineError('argument_invalid', 'gate: expected a non-empty name.')
    if (typeof gate !== 'function')
      throw new VitrineError('argument_invalid', `gate "${name}": expected a function.`)
    checkOptions('gate', journalOptions.gate, options)
    const { ops, timeoutMs = 30_000 } = options
    const registered = { name, gate, ops, timeoutMs: Math.ceil(timeoutMs) }
    this.#registered.push(registered)
    return () => {
      const index = this.#registered.indexOf(registered)
      if (index >= 0) this.#registered.splice(index, 1)
    }
  }

  /** Calls each gate until one denies. */
  async *decisions(start: JournalEvent, signal?: AbortSignal): AsyncGenerator<GateDecision> {
    for (const registered of [...this.#registered]) {
      if (registered.ops && !registered.ops.includes(String(start.data.op))) continue
      const decision = await callGate(registered, start, signal)
      yield decision
      if (decision.answer === 'deny') return
    }
  }
}

async function callGate(
  { name, gate, timeoutMs }: RegisteredGate,
  start: JournalEvent,
  signal?: AbortSignal,
): Promise<GateDecision> {
  const startedAt = performance.now()
  const timeout = AbortSignal.timeout(timeoutMs)
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout
  const answer = Promise.resolve()
    .then(() => gate(start, { signal: either }))
    .then(parseAnswer)
    .catch((error: unknown) => deny(`it failed: ${textOf(error)}`))
  const verdict = (await settledWithin(answer, Number.POSITIVE_INFINITY, { signal: either }))
    ? await answer
    : deny(timeout.aborted ? `it did not answer within ${timeoutMs} ms` : 'the call was cancelled')
  return { gate: name, ...verdict, durationMs: Math.round((performance.now() - startedAt) * 1_000) / 1_000 }
}

function parseAnswer(answer: GateAnswer): Omit<GateDecision, 'gate' | 'durationMs'> {
  if (answer === 'allow' || answer === 'deny') return { answer }
  if (
    typeof answer === 'object' &&
    answer !== null &&
    (answer.answer === 'allow' || answer.answer === 'deny')
  ) {
    const { reason } = answer
    return { answer: answer.answer, ...(typeof reason === 'string' && { reason }) }
  }
  return deny("it returned neither 'allow' nor 'deny'")
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : typeof error === 'string' ? error : typeof error
}

function deny(reason: string): Omit<GateDecision, 'gate' | 'durationMs'> {
  return { answer: 'deny', reason }
}
