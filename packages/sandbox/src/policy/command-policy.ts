import { type CommandPolicyOptions, type Rule, type Verdict, VitrineError } from '@vitrine/protocol'
import { parseAs, policyOptions } from '@vitrine/protocol/options'
import { type CompiledRule, compileRule } from './rules/rule.ts'

/** Checked rules, ready to judge by. */
export interface CommandPolicy {
  readonly allow: readonly CompiledRule[]
  readonly ask: readonly CompiledRule[]
  readonly deny: readonly CompiledRule[]
  readonly otherwise: Verdict
}

/** Policies that `commandPolicy` has made: an object of the same shape could lack a verdict, and would allow. */
const compiled = new WeakSet<object>()

/**
 * Which commands may run. A seat belt, not a wall: it catches what is written plainly, and asks where it
 * cannot be sure; isolation holds what it misses.
 *
 * @example
 * const policy = commandPolicy({ allow: ['pnpm *', 'git status'], deny: ['rm -rf *', 'sudo *'] })
 * judge(policy, 'pnpm test; sudo rm -rf /').verdict // 'deny'
 */
export function commandPolicy(options: CommandPolicyOptions = {}): CommandPolicy {
  parseAs('commandPolicy', policyOptions.policy, options)
  const policy = Object.freeze({
    allow: compileRules('allow', options.allow),
    ask: compileRules('ask', options.ask),
    deny: compileRules('deny', options.deny),
    otherwise: options.otherwise ?? 'ask',
  })
  compiled.add(policy)
  return policy
}

/** Refuses a policy that was not made by `commandPolicy`. */
export function assertCompiled(policy: CommandPolicy): void {
  if (compiled.has(policy)) return
  const message = 'policy: expected what `commandPolicy({ … })` gives, got another object.'
  throw new VitrineError('argument_invalid', message, { details: { path: 'policy' } })
}

function compileRules(name: string, rules: readonly Rule[] = []): readonly CompiledRule[] {
  return Object.freeze(rules.map((rule, index) => compileRule(rule, `commandPolicy.${name}[${index}]`)))
}
