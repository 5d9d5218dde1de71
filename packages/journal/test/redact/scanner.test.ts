import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGramFilter } from '../../src/redact/grams.ts'
import { createScanner, type NamedForms, type Scanner } from '../../src/redact/scanner.ts'
import type { Span } from '../../src/redact/span.ts'

const form = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 4, maxLength: 12 })
const forms = fc.uniqueArray(form, { minLength: 1, maxLength: 8 })
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 60 })

function scannerOf(...secrets: NamedForms[]): Scanner {
  const scanner = createScanner(createGramFilter())
  for (const secret of secrets) scanner.add(secret)
  return scanner
}

/** A simple reference implementation of the scanner. */
function findSlowly(forms: readonly string[], text: string): Span[] {
  const longestFirst = forms.toSorted((a, b) => b.length - a.length)
  const spans: Span[] = []
  for (let at = 0; at < text.length; at++) {
    const found = longestFirst.find((form) => text.startsWith(form, at))
    if (found === undefined) continue
    const end = at + found.length
    const last = spans.at(-1)
    if (last === undefined || at >= last.end) spans.push({ start: at, end, name: 'S' })
    else spans[spans.length - 1] = { ...last, end: Math.max(last.end, end) }
  }
  return spans
}

describe('a scanner', () => {
  it('finds matches that overlap as one', () => {
    const scanner = scannerOf({ name: 'A', forms: ['abcdef', 'aaaa'] }, { name: 'B', forms: ['efghij'] })
    expect(scanner.find('.abcdefghij.')).toEqual([{ start: 1, end: 11, name: 'A' }])
    expect(scanner.find('aaaaaaa')).toEqual([{ start: 0, end: 7, name: 'A' }])
    expect(scanner.cut('abcdefgh')).toEqual([{ start: 0, end: 8, name: 'A' }])
  })

  it('leaves a form open that begins inside a match', () => {
    const scanner = scannerOf({ name: 'A', forms: ['abcdefgh'] }, { name: 'B', forms: ['efghijkl'] })
    const spans = [{ start: 1, end: 9, name: 'A' }]
    expect(scanner.scan('.abcdefgh')).toEqual({ spans, pending: 5, hold: true })
    const tail = scannerOf({ name: 'A', forms: ['abcdefgh'] }, { name: 'B', forms: ['ghijklmn'] })
    expect(tail.scan('.abcdefgh')).toEqual({ spans, pending: 7, hold: false })
  })

  it('looks at a bounded number of candidates inside a match', () => {
    const filter = createGramFilter()
    let calls = 0
    const counting = { ...filter, next: (text: string, from: number) => ++calls && filter.next(text, from) }
    const scanner = createScanner(counting)
    scanner.add({ name: 'S', forms: ['a'.repeat(2_000)] })
    const found = scanner.find('a'.repeat(100_000))
    expect(found.reduce((masked, { start, end }) => masked + end - start, 0)).toBe(100_000)
    expect(calls).toBeLessThan(5_000)
  })

  it('finds the same as a naive search', () => {
    fc.assert(
      fc.property(forms, text, (forms, text) => {
        expect(scannerOf({ name: 'S', forms }).find(text)).toEqual(findSlowly(forms, text))
      }),
    )
  })

  it.each(['.', '€'])('finds a form at any position in a long text of %s', (filler) => {
    const scanner = scannerOf({ name: 'S', forms: ['needle'] })
    const places = [...Array.from({ length: 1_500 }, (_, index) => index), 64_000, 87_380, 200_000]
    for (const start of places) {
      const text = `${filler.repeat(start)}needle${filler.repeat(300)}`
      expect(scanner.find(text)).toEqual([{ start, end: start + 6, name: 'S' }])
    }
  })

  it('finds the same form many times in one text', () => {
    const found = scannerOf({ name: 'S', forms: ['needle'] }).find('needle, '.repeat(10_000))
    expect(found).toHaveLength(10_000)
    expect(found.at(-1)).toEqual({ start: 79_992, end: 79_998, name: 'S' })
  })

  it('finds one of thousands with a common prefix', () => {
    const secrets = Array.from({ length: 5_000 }, (_, index) => ({
      name: `S${index}`,
      forms: [`ghp_${index}x`],
    }))
    const scanner = scannerOf(...secrets, { name: 'short', forms: ['ghp_'] })
    expect(scanner.find('a ghp_4321x and a ghp_?').map(({ name }) => name)).toEqual(['S4321', 'short'])
  })

  it('reports only matches in an open text that no continuation can change', () => {
    fc.assert(
      fc.property(forms, text, text, (forms, text, more) => {
        const scanner = scannerOf({ name: 'S', forms })
        const { spans, pending, hold } = scanner.scan(text)
        // A span may grow if its end is the beginning of another form.
        const before = ({ start, end }: Span) => ({ start, end: Math.min(end, pending) })
        const decided = findSlowly(forms, text + more).filter(({ start }) => start < pending)
        expect(spans.filter(({ start }) => start < pending).map(before)).toEqual(decided.map(before))
        if (hold) expect(spans.every(({ start }) => start < pending)).toBe(true)
        for (const { start, end } of findSlowly(forms, text))
          expect(start >= pending || spans.some((span) => span.start <= start && span.end >= end)).toBe(true)
      }),
    )
  })

  it('leaves every prefix of a form open', () => {
    const scanner = scannerOf({ name: 'S', forms: ['abcdefgh'] })
    for (let length = 1; length < 8; length++) {
      expect(scanner.scan(`..${'abcdefgh'.slice(0, length)}`)).toEqual({
        spans: [],
        pending: 2,
        hold: length >= 4,
      })
    }
    expect(scanner.scan('..abcdefgh').pending).toBe(10)
  })

  it('leaves exactly the prefixes of four characters or more open', () => {
    fc.assert(
      fc.property(forms, text, (forms, text) => {
        const { pending } = scannerOf({ name: 'S', forms }).scan(text)
        const tail = text.slice(pending)
        if (tail.length < 4) return
        expect(forms.some((form) => form.length > tail.length && form.startsWith(tail))).toBe(true)
      }),
    )
  })

  it('counts half a form as a match when the text is truncated', () => {
    const scanner = scannerOf({ name: 'S', forms: ['abcdefghij'] })
    expect(scanner.cut('..abcd')).toEqual([])
    expect(scanner.cut('..abcde')).toEqual([{ start: 2, end: 7, name: 'S' }])
  })

  it('finds a complete form inside the prefix of a longer one when the text is truncated', () => {
    const scanner = scannerOf(
      { name: 'long', forms: ['abcdefghijklmnopqrst'] },
      { name: 'short', forms: ['cdef'] },
    )
    expect(scanner.cut('abcdefg')).toEqual([{ start: 2, end: 6, name: 'short' }])
  })

  it('finds exactly the remaining forms after others were removed', () => {
    fc.assert(
      fc.property(forms, forms, text, (kept, removed, text) => {
        const scanner = scannerOf({ name: 'S', forms: kept }, { name: 'R', forms: removed })
        scanner.find(text)
        scanner.remove({ name: 'R', forms: removed })
        expect(scanner.find(text)).toEqual(findSlowly(kept, text))
      }),
    )
  })

  it('adds and removes many forms at once', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `form-${index}.`)
    const scanner = scannerOf({ name: 'S', forms: many })
    expect(scanner.find('form-7. form-999.')).toHaveLength(2)
    scanner.remove({ name: 'S', forms: many.slice(1) })
    expect(scanner.find('form-0. form-999.')).toEqual([{ start: 0, end: 7, name: 'S' }])
  })
})
