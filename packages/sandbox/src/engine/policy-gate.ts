import { AsyncLocalStorage } from 'node:async_hooks'
import { type CommandPolicy, type Judgement, judge } from '@vitrine/command-policy'
import type { GateAnswer, Journal } from '@vitrine/journal'
import type { Command } from '@vitrine/protocol'
import { askAboutReplacedPrograms, type PolicyCall } from './policy-call.ts'

/** Called when a policy's verdict is `ask`. Without such a function, `ask` denies. */
export type AskAboutCommand = (
  judgement: Judgement,
  options: { readonly signal: AbortSignal },
) => boolean | Promise<boolean>

const askMs = 10 * 60_000

/** Judges commands before secrets are masked, and enforces the verdict in a gate of the journal. */
export class PolicyGate {
  readonly #policy: CommandPolicy
  /** Carries the judgement to the gate: a gate sees only the event, in which secrets are masked. */
  readonly #judged = new AsyncLocalStorage<Judgement | 'unchecked'>()
  readonly #journal: Journal
  readonly #ask: AskAboutCommand | undefined
  #unregister: (() => void) | undefined

  constructor(journal: Journal, policy: CommandPolicy, ask?: AskAboutCommand) {
    this.#journal = journal
    this.#policy = policy
    this.#ask = ask
    this.#register()
  }

  /** Removes the gate. The next sandbox on this journal has its own gate, which would not know this one's judgements. */
  close(): void {
    this.#unregister?.()
    this.#unregister = undefined
  }

  #register(): void {
    this.#unregister ??= this.#journal.gate('policy', (_, { signal }) => this.#decide(signal), {
      ops: ['exec', 'spawn'],
      timeoutMs: askMs,
    })
  }

  async #decide(signal: AbortSignal): Promise<GateAnswer> {
    const judgement = this.#judged.getStore()
    if (judgement === undefined) return { answer: 'deny', reason: 'the command was not judged' }
    if (judgement === 'unchecked') return { answer: 'allow', reason: 'the host starts this program' }
    const { verdict, reason } = judgement
    if (verdict === 'allow') return 'allow'
    if (verdict === 'deny') return { answer: 'deny', reason }
    if (this.#ask === undefined)
      return { answer: 'deny', reason: `${reason} No \`onAsk\` function was given.` }
    return (await this.#ask(judgement, { signal }))
      ? { answer: 'allow', reason: `approved: ${reason}` }
      : { answer: 'deny', reason }
  }

  /** Runs an operation whose gate decides by the judgement of this command. */
  withJudgement<T>(command: Command, call: PolicyCall, operation: () => T): T {
    this.#register()
    const judgement = askAboutReplacedPrograms(judge(this.#policy, command, call), call)
    return this.#judged.run(judgement, operation)
  }

  /** Runs an operation whose gate allows the command without judging it. */
  unchecked<T>(operation: () => T): T {
    this.#register()
    return this.#judged.run('unchecked', operation)
  }
}
