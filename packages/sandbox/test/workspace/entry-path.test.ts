import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entryPath, findOverlap, type ManifestEntry } from '../../src/workspace/entry-path.ts'

describe('the path of an entry', () => {
  it.each([
    ['a', ['a']],
    ['./a//b/', ['a', 'b']],
    ['.', []],
    ['a b/…', ['a b', '…']],
  ])('parses the path %j', (path, names) => {
    expect(entryPath('x', path)).toEqual(names)
  })

  it.each([
    '',
    '/a',
    '..',
    'a/../b',
    '../a',
    'a/..',
    'a\0b',
    'C:\\a',
    '\\\\a',
    '\ud800',
    'a'.repeat(5_000),
    5,
    null,
  ])('refuses the path %j and names its field', (path) => {
    expect(() => entryPath('workspace.files', path)).toThrow(
      expect.objectContaining({
        code: 'argument_invalid',
        message: expect.stringMatching(/^workspace\.files: /),
      }),
    )
  })

  it('no accepted path leads outside the workspace', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('..', '.', '', 'a', 'b'), { maxLength: 6 }), (parts) => {
        const path = parts.join('/')
        try {
          expect(entryPath('x', path)).not.toContain('..')
        } catch (error) {
          expect(error).toMatchObject({ code: 'argument_invalid' })
          expect(path === '' || path.startsWith('/') || parts.includes('..')).toBe(true)
        }
      }),
    )
  })
})

describe('two entries', () => {
  const entry = fc.record({
    names: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
    inside: fc.constantFrom('open' as const, 'closed' as const),
  })
  const isInside = (outer: ManifestEntry, inner: ManifestEntry) =>
    outer.names.every((name, at) => inner.names[at] === name) && outer.names.length < inner.names.length
  const isSame = (a: ManifestEntry, b: ManifestEntry) => a.names.join('/') === b.names.join('/')
  const clash = (a: ManifestEntry, b: ManifestEntry) =>
    isSame(a, b) || (a.inside === 'closed' && isInside(a, b)) || (b.inside === 'closed' && isInside(b, a))

  it('finds an overlap exactly if one entry is at or inside the other, in any order', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), (given) => {
        const entries = given.map((one, at) => ({ ...one, field: `#${at}` }))
        const clashing = entries.some((a, at) => entries.slice(at + 1).some((b) => clash(a, b)))
        const found = findOverlap(entries)
        expect(found !== undefined).toBe(clashing)
        if (found !== undefined) {
          expect(found.outer).not.toBe(found.inner)
          expect(isSame(found.outer, found.inner) || isInside(found.outer, found.inner)).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })
})
