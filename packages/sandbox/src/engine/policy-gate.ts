import { AsyncLocalStorage } from 'node:async_hooks'
import type { Journal } from '@vitrine/journal'
import type { Command } from '@vitrine/protocol'
import type { CommandPolicy } from '../policy/command-policy.ts'
import { type Judgement, judge } from '../policy/judge.ts'

/** Asked when a policy says `ask`. Without one, `ask` refuses. */
export type AskAboutCommand = (
  judgement: Judgement,
  options: { readonly signal: AbortSignal },
) => boolean | Promise<boolean>

const askMs = 10 * 60_000

/** Judges commands as they were given, and lets the journal's gate say what came of it. */
export class PolicyGate {
  readonly #policy: CommandPolicy
  /** Gates see events, where secrets are masked; a command is judged before. */
  readonly #judged = new AsyncLocalStorage<Judgement | 'beyond'>()

  constructor(journal: Journal, policy: CommandPolicy, ask?: AskAboutCommand) {
    this.#policy = policy
    const gate: Parameters<Journal['gate']>[1] = async (_, { signal }) => {
      const judgement = this.#judged.getStore()
      if (judgement === undefined) return { answer: 'deny', reason: 'the command was not judged' }
      if (judgement === 'beyond') return { answer: 'allow', reason: 'the host itself starts this program' }
      const { verdict, reason } = judgement
      if (verdict === 'allow') return 'allow'
      if (verdict === 'deny') return { answer: 'deny', reason }
      if (ask === undefined) return { answer: 'deny', reason: `${reason} There is nobody to ask.` }
      return (await ask(judgement, { signal }))
        ? { answer: 'allow', reason: `asked: ${reason}` }
        : { answer: 'deny', reason }
    }
    journal.gate('policy', gate, { ops: ['exec', 'spawn'], timeoutMs: askMs })
  }

  /** Runs an operation whose gate will answer for this command. */
  judging<T>(command: Command, shell: string | readonly string[] | undefined, operation: () => T): T {
    return this.#judged.run(judge(this.#policy, command, shell), operation)
  }

  /** The same for a program that is not for the policy to judge. */
  passing<T>(operation: () => T): T {
    return this.#judged.run('beyond', operation)
  }
}
