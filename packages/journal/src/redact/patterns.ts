import { type GramFilter, gramLength } from './grams.ts'
import { contextPatterns } from './patterns/in-context.ts'
import type { SecretPattern } from './patterns/pattern.ts'
import { privateKeyPattern } from './patterns/private-key.ts'
import { tokenPatterns } from './patterns/tokens.ts'
import { noSpans, type Span } from './span.ts'

/** All well-known shapes of secrets. If several match at one index, the first one gives the name. */
export const patterns: readonly SecretPattern[] = [...tokenPatterns, ...contextPatterns, privateKeyPattern]

const byGram = Map.groupBy(
  patterns.flatMap((pattern) => pattern.grams.map((gram) => ({ gram, pattern }))),
  ({ gram }) => gram,
)
/** Every secret of one of these shapes contains one of these grams. */
export const patternGrams: readonly string[] = [...byGram.keys()]

/**
 * The spans of a text that match a well-known shape. The filter must have the patterns' grams marked, and may have
 * others.
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
