import { createGramFilter, gramLength } from './grams.ts'
import { contextPatterns } from './patterns/in-context.ts'
import type { Pattern } from './patterns/pattern.ts'
import { privateKeyPattern } from './patterns/private-key.ts'
import { tokenPatterns } from './patterns/tokens.ts'
import { noSpans, type Span } from './span.ts'

/** Every well-known shape of a secret; where several begin alike, the first that fits gives the name. */
export const patterns: readonly Pattern[] = [...tokenPatterns, ...contextPatterns, privateKeyPattern]

const byGram = Map.groupBy(
  patterns.flatMap((pattern) => pattern.grams.map((gram) => ({ gram, pattern }))),
  ({ gram }) => gram,
)
const filter = createGramFilter(byGram.size)
for (const gram of byGram.keys()) filter.mark(gram)

/**
 * The stretches of a text that look like a secret although nobody registered them.
 *
 * @example
 * findPatterns('Authorization: Bearer abc.def.123456') // [{ start: 22, end: 36, name: 'bearer' }]
 */
export function findPatterns(text: string): readonly Span[] {
  let at = filter.next(text, 0)
  if (at === -1) return noSpans
  const spans: Span[] = []
  let end = 0
  while (at !== -1) {
    const span = patternAt(text, at)
    if (span !== undefined && span.start >= end) {
      spans.push(span)
      end = span.end
    }
    at = filter.next(text, Math.max(at + 1, end))
  }
  return spans
}

function patternAt(text: string, at: number): Span | undefined {
  for (const { pattern } of byGram.get(text.slice(at, at + gramLength)) ?? []) {
    const found = pattern.match(text, at)
    if (found !== undefined) return { ...found, name: pattern.name }
  }
  return undefined
}
