export type Verdict = 'allow' | 'ask' | 'deny'

const strictness: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 }

export function isVerdict(value: unknown): value is Verdict {
  return value === 'allow' || value === 'ask' || value === 'deny'
}

/** deny beats ask beats allow. */
export function stricter(one: Verdict, other: Verdict): Verdict {
  return strictness[other] > strictness[one] ? other : one
}
