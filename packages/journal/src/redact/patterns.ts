import { type GramFilter, gramLength } from './grams.ts'
import { contextPatterns } from './patterns/in-context.ts'
import type { SecretPattern } from './patterns/pattern.ts'
import { privateKeyPattern } from './patterns/private-key.ts'
import { tokenPatterns } from './patterns/tokens.ts'
import { noSpans, type Span } from './span.ts'

/** Every well-known shape of a secret; where several begin alike, the first that fits gives the name. */
export const patterns: readonly SecretPattern[] = [...tokenPatterns, ...contextPatterns, privateKeyPattern]

const byGram = Map.groupBy(
  patterns.flatMap((pattern) => pattern.grams.map((gram) => ({ gram, pattern }))),
  ({ gram }) => gram,
)
/** What every secret of one of these shapes has in it. */
export const patternGrams: readonly string[] = [...byGram.keys()]

/**
 * The stretches of a text that look like a secret although nobody registered them. The filter has the
 * patterns' grams marked, and maybe more.
 *
 * @example
 * findPatterns('Authorization: Bearer abc.def.123456', filter) // [{ start: 22, end: 36, name: 'bearer' }]
 */
export function findPatterns(text: string, filter: GramFilter, from = 0): readonly Span[] {
  let spans: Span[] | undefined
  let end = 0
  for (let at = filter.next(text, from); at !== -1; at = filter.next(text, Math.max(at + 1, end))) {
    const span = patternAt(text, at)
    if (span === undefined || span.start < end) continue
    spans ??= []
    spans.push(span)
    end = span.end
  }
  return spans ?? noSpans
}

function patternAt(text: string, at: number): Span | undefined {
  for (const { pattern } of byGram.get(text.slice(at, at + gramLength)) ?? []) {
    const found = pattern.match(text, at)
    if (found !== undefined) return { ...found, name: pattern.name }
  }
  return undefined
}
