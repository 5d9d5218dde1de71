import type { Verdict } from '@vitrine/protocol'

export type { Verdict }

const strictness: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 }

/** deny beats ask beats allow. */
export function stricter(one: Verdict, other: Verdict): Verdict {
  return strictness[other] > strictness[one] ? other : one
}
