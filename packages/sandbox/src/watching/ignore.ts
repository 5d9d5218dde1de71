import { type Ignored, ignoreMatcher as matcherOf } from '@vitrine/protocol/primitives'
import { stagingInside } from '../files/staging.ts'

export type { Ignored } from '@vitrine/protocol/primitives'

/** Compiles ignore patterns. The staging directory of the engine is always ignored. */
export function ignoreMatcher(patterns: readonly string[]): Ignored {
  return matcherOf([stagingInside, ...patterns])
}
