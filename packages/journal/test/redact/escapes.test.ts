import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unescapeText } from '../../src/redact/escapes.ts'
import { createRedactor } from '../../src/redact/redactor.ts'
import type { Span } from '../../src/redact/span.ts'

const unit = fc.constantFrom('a', 'é', '€', '😀', '\ud800', '%41', '\\u20ac', '\\n', '%', '\\')
const texts = fc.array(unit, { maxLength: 30 }).map((units) => units.join(''))

/** The index in the text of each byte, and where that byte's character or escape ends. */
function placesOf(text: string): { readonly start: number; readonly end: number }[] {
  const found = text.matchAll(/%[\da-f]{2}|\\u[\da-f]{4}|\\[\\an]|./gsu)
  return [...found].flatMap(({ 0: piece, index }) => {
    const bytes =
      piece === '\\u20ac' ? 3 : piece.length > 1 && /^[%\\]/.test(piece) ? 1 : Buffer.byteLength(piece)
    return Array.from({ length: bytes }, () => ({ start: index, end: index + piece.length }))
  })
}

describe('an unescaped text', () => {
  it('knows where any ordered ranges of its bytes were in the text', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(60), { maxLength: 12 }), (text, cuts) => {
        const unescaped = unescapeText(text)
        if (unescaped === undefined) return
        const places = placesOf(text)
        expect(unescaped.bytes).toHaveLength(places.length)
        const edges = [...new Set(cuts.filter((cut) => cut <= places.length))].sort((a, b) => a - b)
        const spans: Span[] = edges.slice(1).map((end, index) => ({ start: edges[index]!, end, name: '' }))
        expect(unescaped.sources(spans)).toEqual(
          spans.map(({ start, end }) => ({
            start: places[start]!.start,
            end: places[end - 1]!.end,
            name: '',
          })),
        )
      }),
      { numRuns: 1_000 },
    )
  })

  it('is masked in linear time when it has many secrets between characters of several bytes', () => {
    const redactor = createRedactor()
    redactor.add('KEY', 's3cret77')
    const count = 25_000
    expect(redactor.redactText(`\\n${'és3cret77'.repeat(count)}`)).toBe(
      `\\n${'é[redacted:KEY]'.repeat(count)}`,
    )
  })
})
