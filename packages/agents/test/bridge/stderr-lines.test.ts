import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatExcerpt, StderrLines } from '../../src/bridge/stderr-lines.ts'

function excerptOf(text: string, chunk = 7) {
  const lines = new StderrLines()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += chunk) lines.take(bytes.subarray(at, at + chunk))
  return lines.excerpt()
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}`)

it.each([0, 1, 19, 20, 21, 69, 70, 71, 500])('keeps the first 20 and the last 50 of %i lines', (count) => {
  const all = numbered(count)
  for (const end of ['', '\n']) {
    const { head, tail, lines } = excerptOf(all.join('\n') + (count > 0 ? end : ''))
    expect(lines).toBe(count)
    expect(head).toBe(all.slice(0, 20).join('\n'))
    expect(tail).toBe(count > 20 ? all.slice(20).slice(-50).join('\n') : undefined)
  }
})

it('returns the same excerpt for any chunking', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.integer({ min: 1, max: 50 }),
      (text, chunk) => {
        expect(excerptOf(text, chunk)).toEqual(excerptOf(text, 100_000))
      },
    ),
  )
})

it('bounds a line without an end', () => {
  const lines = new StderrLines()
  for (let n = 0; n < 1_000; n += 1) lines.take(Buffer.from('word '.repeat(2_000)))
  expect(lines.excerpt()).toEqual({ head: `${'word '.repeat(400)}…`, lines: 1 })
})

it('formats the last lines for the end of an error message', () => {
  expect(formatExcerpt({ head: '', lines: 0 })).toBe('')
  expect(formatExcerpt({ head: 'one', lines: 1 })).toBe('\nEnd of its stderr (1 line in all):\none')
  expect(formatExcerpt(excerptOf(numbered(100).join('\n')))).toContain('(100 lines in all):\nline 95\n')
})
