import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffText, type TextDiff, unifiedDiff } from '../../src/index.ts'

/** Applies a diff to the text before it. */
function applied(before: string, { hunks }: TextDiff): string {
  const lines = before.split('\n')
  const last = lines.pop() ?? ''
  const old = [...lines.map((line) => `${line}\n`), ...(last === '' ? [] : [last])]
  const result: string[] = []
  let at = 0
  for (const { before: range, lines: changed } of hunks) {
    const start = range.count === 0 ? range.line : range.line - 1
    result.push(...old.slice(at, start))
    at = start
    for (const { kind, text, unended } of changed) {
      const line = unended ? text : `${text}\n`
      if (kind !== 'added') expect(old[at++]).toBe(line)
      if (kind !== 'removed') result.push(line)
    }
  }
  return [...result, ...old.slice(at)].join('')
}

/** The length of the longest common subsequence, by the table. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0)
  for (const one of a) {
    const next = [0]
    for (const [at, other] of b.entries())
      next.push(one === other ? row[at]! + 1 : Math.max(row[at + 1]!, next[at]!))
    row = next
  }
  return row[b.length]!
}

const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', 'd\r'), { maxLength: 30 }), fc.boolean())
  .map(([lines, ended]) => lines.join('\n') + (ended && lines.length > 0 ? '\n' : ''))

const linesOf = (whole: string) => whole.match(/[^\n]*\n|[^\n]+$/g) ?? []

describe('diffText', () => {
  it('gives the changed lines with the lines around them', () => {
    const before = 'one\ntwo\nthree\nfour\nfive\n'
    expect(diffText(before, before.replace('three', '3'), { context: 1 })).toEqual({
      added: 1,
      removed: 1,
      hunks: [
        {
          before: { line: 2, count: 3 },
          after: { line: 2, count: 3 },
          lines: [
            { kind: 'same', text: 'two' },
            { kind: 'removed', text: 'three' },
            { kind: 'added', text: '3' },
            { kind: 'same', text: 'four' },
          ],
        },
      ],
    })
  })

  it('is empty for equal texts', () => {
    expect(diffText('a\n', 'a\n')).toEqual({ added: 0, removed: 0, hunks: [] })
    expect(unifiedDiff(diffText('', ''))).toBe('')
  })

  it('turns the first text into the second, with as few lines as possible', () => {
    fc.assert(
      fc.property(text, text, fc.nat(4), (before, after, context) => {
        const diff = diffText(before, after, { context })
        expect(applied(before, diff)).toBe(after)
        const [a, b] = [linesOf(before), linesOf(after)]
        expect(diff.removed + diff.added).toBe(a.length + b.length - 2 * longestCommon(a, b))
        expect(diff.approximate).toBeUndefined()
      }),
    )
  })

  it('is still correct when its steps are limited', () => {
    fc.assert(
      fc.property(text, text, fc.nat(40), (before, after, maxSteps) => {
        expect(applied(before, diffText(before, after, { maxSteps }))).toBe(after)
      }),
    )
  })

  it('ends early for long texts without a common order, and says so', () => {
    const count = 10_000
    const numbers = Array.from({ length: count }, (_, at) => `${(at * 7919) % count}`)
    const before = `${numbers.join('\n')}\n`
    const after = `${numbers.toReversed().join('\n')}\n`
    const diff = diffText(before, after, { maxSteps: 10_000 })
    expect(diff.approximate).toBe(true)
    expect(applied(before, diff)).toBe(after)
  })

  it('refuses values that are no texts, with their name', () => {
    const bad: [before: unknown, after: unknown, options: object, message: string][] = [
      [5, '', {}, 'before: expected a string, got 5.'],
      ['', undefined, {}, 'after: expected a string, got undefined.'],
      ['', Buffer.from('x'), {}, 'after: expected a string, got bytes.'],
      ['', 'x', { context: -1 }, 'context: expected'],
      ['', 'x', { maxSteps: Number.NaN }, 'maxSteps: expected'],
    ]
    for (const [before, after, options, message] of bad)
      expect(() => diffText(before as string, after as string, options)).toThrow(message)
  })

  it('refuses a text of too many lines, unless both are equal', () => {
    const long = '\n'.repeat(1_000_001)
    expect(() => diffText('', long)).toThrow(
      'after: expected at most 1000000 lines; compare parts of the text',
    )
    expect(() => diffText('a\nb\nc', '', { maxLines: 2 })).toThrow('before: expected at most 2 lines')
    expect(diffText('a\nb', '', { maxLines: 2 })).toMatchObject({ removed: 2 })
    expect(diffText(long, long)).toEqual({ added: 0, removed: 0, hunks: [] })
  })

  it('keeps every character of texts that are binary, and one long line', () => {
    const binary = Array.from({ length: 5_000 }, (_, at) => String.fromCharCode((at * 31) % 256)).join('')
    for (const [before, after] of [
      [binary, [...binary].reverse().join('')],
      ['a\0b\n\ud800', 'a\0c\n\udc00'],
      ['x'.repeat(5_000_000), 'y'.repeat(5_000_000)],
    ] as const)
      expect(applied(before, diffText(before, after)) === after).toBe(true)
  })

  it('is a patch that git applies, of any file name', () => {
    const folder = mkdtempSync(join(tmpdir(), 'vitrine-diff-'))
    try {
      for (const [before, after, name] of [
        ['one\ntwo\nthree\n', 'one\n2\nthree', 'file'],
        ['', 'new\n', 'file'],
        ['a\nb\n', '', 'file'],
        ['x', 'x\n', 'a\nb "c" \\ é'],
      ] as const) {
        writeFileSync(join(folder, name), before)
        const names = { before: `a/${name}`, after: `b/${name}` }
        const input = unifiedDiff(diffText(before, after), names)
        const { status, stderr } = spawnSync('git', ['apply'], { cwd: folder, input })
        expect([status, `${stderr}`]).toEqual([0, ''])
        expect(readFileSync(join(folder, name), 'utf8')).toBe(after)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
