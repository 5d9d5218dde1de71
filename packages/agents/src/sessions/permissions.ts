import {
  type PendingPermission,
  type PermissionAnswer,
  type PermissionKind,
  type PermissionRules,
  VitrineError,
} from '@vitrine/protocol'

const defaultTimeoutMs = 60 * 60 * 1_000

/** Permission rules with all defaults filled in. */
export interface CompleteRules {
  readonly default: 'ask' | 'allow' | 'deny'
  readonly allow: readonly string[]
  readonly allowAlways: readonly string[]
  readonly deny: readonly string[]
  readonly timeoutMs: number
  readonly onTimeout: PermissionKind | 'cancelled'
}

export function completeRules(rules: 'ask' | 'allow' | 'deny' | PermissionRules = 'ask'): CompleteRules {
  const partial = typeof rules === 'string' ? { default: rules } : rules
  return {
    default: partial.default ?? 'ask',
    allow: partial.allow ?? [],
    allowAlways: partial.allowAlways ?? [],
    deny: partial.deny ?? [],
    timeoutMs: partial.timeoutMs ?? defaultTimeoutMs,
    onTimeout: partial.onTimeout ?? 'reject_once',
  }
}

/** The answer of the rules for a kind of tool; `deny` wins over `allow`. */
export function ruleFor(rules: CompleteRules, kind: string): 'ask' | PermissionKind {
  if (rules.deny.includes(kind)) return 'reject_once'
  if (rules.allowAlways.includes(kind)) return 'allow_always'
  if (rules.allow.includes(kind)) return 'allow_once'
  return rules.default === 'ask' ? 'ask' : rules.default === 'allow' ? 'allow_once' : 'reject_once'
}

type Option = PendingPermission['options'][number]

/** Acceptable option kinds for an answer, best first: a rejection may become broader, an approval only narrower. */
const nearest: Readonly<Record<PermissionKind, readonly PermissionKind[]>> = {
  allow_once: ['allow_once'],
  allow_always: ['allow_always', 'allow_once'],
  reject_once: ['reject_once', 'reject_always'],
  reject_always: ['reject_always', 'reject_once'],
}

/** The option that an answer selects; undefined cancels the request. */
export function chooseOption(options: readonly Option[], answer: PermissionAnswer): Option | undefined {
  if (answer === 'cancelled') return undefined
  if (typeof answer === 'object') {
    const option = options.find(({ id }) => id === answer.option)
    if (option !== undefined) return option
    throw unknownAnswer(options, answer.option)
  }
  if (!Object.hasOwn(nearest, answer)) throw unknownAnswer(options, String(answer))
  for (const kind of nearest[answer]) {
    const found = options.find((option) => option.kind === kind)
    if (found !== undefined) return found
  }
  // The agent offers no option to reject, so the request is cancelled.
  if (answer.startsWith('reject')) return undefined
  throw unknownAnswer(options, answer)
}

function unknownAnswer(options: readonly Option[], answer: string): VitrineError {
  const known = options.map(({ kind, id }) => `${kind} (${id})`).join(', ')
  return new VitrineError(
    'option_unknown',
    `"${answer}" is not an option of this permission request; it offers ${known || 'none'}.`,
  )
}
