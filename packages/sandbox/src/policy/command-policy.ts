import { VitrineError } from '@vitrine/protocol'
import { type CompiledRule, compileRule, type Rule } from './rules/rule.ts'
import { isVerdict, type Verdict } from './verdict.ts'

export interface CommandPolicyOptions {
  readonly allow?: readonly Rule[]
  readonly ask?: readonly Rule[]
  readonly deny?: readonly Rule[]
  /** For commands that no rule is about; default `ask`. */
  readonly otherwise?: Verdict
}

/** Checked rules, ready to judge by. */
export interface CommandPolicy {
  readonly allow: readonly CompiledRule[]
  readonly ask: readonly CompiledRule[]
  readonly deny: readonly CompiledRule[]
  readonly otherwise: Verdict
}

const keys = new Set(['allow', 'ask', 'deny', 'otherwise'])

/**
 * Which commands may run. A seat belt, not a wall: it catches what is written plainly, and asks where it
 * cannot be sure; isolation holds what it misses.
 *
 * @example
 * const policy = commandPolicy({ allow: ['pnpm *', 'git status'], deny: ['rm -rf *', 'sudo *'] })
 * judge(policy, 'pnpm test; sudo rm -rf /').verdict // 'deny'
 */
export function commandPolicy(options: CommandPolicyOptions = {}): CommandPolicy {
  if (typeof options !== 'object' || options === null) throw invalid('', 'an object with rules', options)
  for (const key of Object.keys(options)) {
    // A misspelt list of denials would deny nothing.
    if (!keys.has(key)) throw invalid('', 'only allow, ask, deny and otherwise', key)
  }
  const { otherwise = 'ask' } = options
  if (!isVerdict(otherwise)) throw invalid('.otherwise', "'allow', 'ask' or 'deny'", otherwise)
  return Object.freeze({
    allow: compileRules('allow', options.allow),
    ask: compileRules('ask', options.ask),
    deny: compileRules('deny', options.deny),
    otherwise,
  })
}

function compileRules(name: string, rules: readonly Rule[] = []): readonly CompiledRule[] {
  if (!Array.isArray(rules)) throw invalid(`.${name}`, "an array of rules such as ['git push *']", rules)
  return Object.freeze(rules.map((rule: Rule, index) => compileRule(rule, `commandPolicy.${name}[${index}]`)))
}

function invalid(place: string, expected: string, got: unknown): VitrineError {
  const shown = typeof got === 'string' ? JSON.stringify(got) : typeof got
  return new VitrineError(
    'argument_invalid',
    `commandPolicy${place}: expected ${expected}, got ${shown}; correct it, since no command can be judged without.`,
    { details: { argument: `commandPolicy${place}` } },
  )
}
