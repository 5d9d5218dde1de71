import {
  type PendingPermission,
  type PermissionAnswer,
  type PermissionKind,
  type PermissionRules,
  VitrineError,
} from '@vitrine/protocol'

const defaultTimeoutMs = 60 * 60 * 1_000

/** The rules with nothing left open. */
export interface SettledRules {
  readonly default: 'ask' | 'allow' | 'deny'
  readonly allow: readonly string[]
  readonly allowAlways: readonly string[]
  readonly deny: readonly string[]
  readonly timeoutMs: number
  readonly onTimeout: PermissionKind | 'cancelled'
}

export function settleRules(rules: 'ask' | 'allow' | 'deny' | PermissionRules = 'ask'): SettledRules {
  const given = typeof rules === 'string' ? { default: rules } : rules
  return {
    default: given.default ?? 'ask',
    allow: given.allow ?? [],
    allowAlways: given.allowAlways ?? [],
    deny: given.deny ?? [],
    timeoutMs: given.timeoutMs ?? defaultTimeoutMs,
    onTimeout: given.onTimeout ?? 'reject_once',
  }
}

/** What the rules say about a kind of tool; a refusal counts more than a grant. */
export function ruleFor(rules: SettledRules, kind: string): 'ask' | PermissionKind {
  if (rules.deny.includes(kind)) return 'reject_once'
  if (rules.allowAlways.includes(kind)) return 'allow_always'
  if (rules.allow.includes(kind)) return 'allow_once'
  return rules.default === 'ask' ? 'ask' : rules.default === 'allow' ? 'allow_once' : 'reject_once'
}

type Option = PendingPermission['options'][number]

/** Another kind that means no more than what was asked for; refusing may go further, granting may not. */
const nearest: Readonly<Record<PermissionKind, readonly PermissionKind[]>> = {
  allow_once: ['allow_once'],
  allow_always: ['allow_always', 'allow_once'],
  reject_once: ['reject_once', 'reject_always'],
  reject_always: ['reject_always', 'reject_once'],
}

/** The option that an answer means; none means that the request is called off. */
export function chooseOption(options: readonly Option[], answer: PermissionAnswer): Option | undefined {
  if (answer === 'cancelled') return undefined
  if (typeof answer === 'object') {
    const named = options.find(({ id }) => id === answer.option)
    if (named !== undefined) return named
    throw unknownAnswer(options, answer.option)
  }
  if (!Object.hasOwn(nearest, answer)) throw unknownAnswer(options, String(answer))
  for (const kind of nearest[answer]) {
    const found = options.find((option) => option.kind === kind)
    if (found !== undefined) return found
  }
  // Who cannot refuse in the agent's words calls it off.
  if (answer.startsWith('reject')) return undefined
  throw unknownAnswer(options, answer)
}

function unknownAnswer(options: readonly Option[], answer: string): VitrineError {
  const known = options.map(({ kind, id }) => `${kind} (${id})`).join(', ')
  return new VitrineError(
    'option_unknown',
    `There is no answer "${answer}" to this request; it offers ${known || 'nothing'}.`,
  )
}
