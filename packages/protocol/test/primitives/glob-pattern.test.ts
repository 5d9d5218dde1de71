import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { globPattern, matchName } from '../../src/primitives/glob-pattern.ts'

/** A naive matcher that tries every possibility. */
function reference(
  pattern: readonly string[],
  text: readonly string[],
  any: string,
  same: (a: string, b: string) => boolean,
): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return text.length === 0
  if (first === any)
    return text.some((_, at) => reference(rest, text.slice(at), any, same)) || reference(rest, [], any, same)
  return text.length > 0 && same(first, text[0]!) && reference(rest, text.slice(1), any, same)
}

const referenceName = (pattern: string, name: string) =>
  reference([...pattern], [...name], '*', (a, b) => a === '?' || a === b)

const word = (letters: string, maxLength: number) =>
  fc.array(fc.constantFrom(...letters), { maxLength }).map((list) => list.join(''))

describe('a pattern of names', () => {
  it('matches names like a naive backtracking matcher', () => {
    fc.assert(
      fc.property(word('ab*?é', 6), word('abé', 7), (pattern, name) => {
        expect(matchName(pattern, name)).toBe(referenceName(pattern, name))
      }),
      { numRuns: 5_000 },
    )
  })

  it('matches paths like a naive backtracking matcher', () => {
    const part = fc.constantFrom('a', 'b', '*', '**', 'a*', '?')
    const parts = fc.array(part, { minLength: 2, maxLength: 5 })
    const path = fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(parts, path, (pattern, names) => {
        const matches = globPattern(pattern.join('/'))
        expect(matches(names.join('/'), names.at(-1)!)).toBe(reference(pattern, names, '**', referenceName))
      }),
      { numRuns: 5_000 },
    )
  })

  it.each([
    ['*.ts', 'src/a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['src/*', 'src/a', true],
    ['src/*', 'src/a/b', false],
    ['src/**', 'src/a/b', true],
    ['**/b', 'b', true],
    ['./a', 'a', true],
    ['/a', 'a', true],
    ['a', 'x/a', true],
    ['/a', 'x/a', false],
    ['.*', '.git', true],
    ['[a]', '[a]', true],
    ['(a|b)', 'a', false],
    ['a.c', 'abc', false],
    ['?', '😀', true],
    ['?', '\udcff', true],
  ])('pattern %s against path %s gives %s', (pattern, path, expected) => {
    expect(globPattern(pattern)(path, path.slice(path.lastIndexOf('/') + 1))).toBe(expected)
  })

  it('never backtracks exponentially', () => {
    // A backtracking matcher would not finish in time.
    expect(matchName('*a'.repeat(120), 'a'.repeat(119).padEnd(255, 'b'))).toBe(false)
    expect(matchName('*?'.repeat(400), 'a'.repeat(255))).toBe(false)
    expect(globPattern('**/*a*a*a*b/'.repeat(60))(`${'a/'.repeat(2_000)}c`, 'c')).toBe(false)
  })

  it.each(['', 'x'.repeat(1_001)])('refuses an empty or too long pattern', (pattern) => {
    expect(() => globPattern(pattern)).toThrow(expect.objectContaining({ code: 'argument_invalid' }))
  })
})
