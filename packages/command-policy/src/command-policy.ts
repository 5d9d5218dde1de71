import { type CommandPolicyOptions, type Rule, type Verdict, VitrineError } from '@vitrine/protocol'
import { parseAs, policyOptions } from '@vitrine/protocol/options'
import { type CompiledRule, compileRule } from './rules/rule.ts'

/** Compiled rules. */
export interface CommandPolicy {
  readonly allow: readonly CompiledRule[]
  readonly ask: readonly CompiledRule[]
  readonly deny: readonly CompiledRule[]
  readonly otherwise: Verdict
}

/**
 * The options of each policy that `commandPolicy` has returned. Another object might lack a rule list, and so allow
 * commands.
 */
const sources = new WeakMap<object, CommandPolicyOptions>()

/**
 * Decides which commands may run. It is no security boundary: it recognises commands that are written plainly and asks
 * where it is not certain. Isolation has to contain the rest.
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
  sources.set(policy, structuredClone(options))
  return policy
}

/** The options that a policy was compiled from, to store and compile again. Throws if `commandPolicy` has not returned it. */
export function policySource(policy: CommandPolicy): CommandPolicyOptions {
  const source = sources.get(policy)
  if (source !== undefined) return source
  const message = 'policy: expected the result of `commandPolicy({ … })`, got another object.'
  throw new VitrineError('argument_invalid', message, { details: { path: 'policy' } })
}

/** The rules of a policy, compiled or not. Throws for rules that cannot be compiled. */
export function policyRules(policy: CommandPolicy | CommandPolicyOptions): CommandPolicyOptions {
  // The cast is safe: `commandPolicy` checks it.
  return sources.get(policy) ?? policySource(commandPolicy(policy as CommandPolicyOptions))
}

/** Throws for a policy that `commandPolicy` has not returned. */
export function assertCompiled(policy: CommandPolicy): void {
  policySource(policy)
}

function compileRules(name: string, rules: readonly Rule[] = []): readonly CompiledRule[] {
  return Object.freeze(rules.map((rule, index) => compileRule(rule, `commandPolicy.${name}[${index}]`)))
}
