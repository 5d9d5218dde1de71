import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeForTerminal } from '../../src/index.ts'

const esc = '\u001b'

describe('escapeForTerminal', () => {
  it.each([
    ['plain text, accents and emoji', 'héllo 世界 ⚠️ 🎉', 'héllo 世界 ⚠️ 🎉'],
    ['a colour', `${esc}[31mred${esc}[0m`, '\\x1b[31mred\\x1b[0m'],
    ['a cursor move', `${esc}[2J${esc}[H`, '\\x1b[2J\\x1b[H'],
    ['OSC 52, which writes the clipboard', `${esc}]52;c;cm0gLXJm\u0007`, '\\x1b]52;c;cm0gLXJm\\x07'],
    ['OSC 8, which hides an address', `${esc}]8;;http://evil${esc}\\ok`, '\\x1b]8;;http://evil\\x1b\\ok'],
    ['a window title', `${esc}]0;owned\u0007`, '\\x1b]0;owned\\x07'],
    ['DCS', `${esc}P$q"p${esc}\\`, '\\x1bP$q"p\\x1b\\'],
    ['the 8-bit CSI', '\u009b31m', '\\x9b31m'],
    ['the 8-bit OSC and ST', '\u009d0;x\u009c', '\\x9d0;x\\x9c'],
    ['letters whose UTF-8 bytes look like C1', 'à œ 你', 'à œ 你'],
    ['the right-to-left override', 'invoice\u202Egpj.exe', 'invoice\\u202egpj.exe'],
    ['bidi isolates', '\u2066a\u2069', '\\u2066a\\u2069'],
    ['bidi marks', '\u200E\u200F\u061C', '\\u200e\\u200f\\u061c'],
    [
      'characters without width',
      'a\u200Bb\u200Dc\u2060d\uFEFF\u00AD',
      'a\\u200bb\\u200dc\\u2060d\\ufeff\\xad',
    ],
    ['letters that are blank', '\u3164\uFFA0', '\\u3164\\uffa0'],
    ['tags, which are invisible text', '\u{E0041}', '\\u{e0041}'],
    ['line and paragraph separators', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['halves of surrogate pairs', '\uD83D x \uDE00', '\\ud83d x \\ude00'],
    ['newlines', 'a\nb\r\nc', 'a⏎b⏎c'],
    ['a lone carriage return, which overwrites', 'safe\rEVIL', 'safe\\x0dEVIL'],
    ['a tab', 'a\tb', 'a⇥b'],
    ['NUL, backspace, form feed and DEL', '\0\b\f\u007F', '\\x00\\x08\\x0c\\x7f'],
  ])('makes %s safe to print', (_what, text, safe) => {
    expect(escapeForTerminal(text)).toBe(safe)
  })

  it('leaves no control character and no line break', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeForTerminal(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      }),
    )
  })

  it('does not change escaped text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeForTerminal(escapeForTerminal(text))).toBe(escapeForTerminal(text))
      }),
    )
  })

  it('cuts between characters and never inside an escape', () => {
    expect(escapeForTerminal('🎉🎉🎉', 3)).toBe('🎉🎉🎉')
    expect(escapeForTerminal('🎉🎉🎉', 2)).toBe('🎉…')
    expect(escapeForTerminal(`ab${esc}c`, 6)).toBe('ab…')
    expect(escapeForTerminal(`ab${esc}c`, 7)).toBe('ab\\x1bc')
    expect(escapeForTerminal('abc', 1)).toBe('…')
    expect(escapeForTerminal('abc', 0)).toBe('')
  })

  it('stays within its length and marks omitted text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 20 }), (text, max) => {
        const whole = escapeForTerminal(text)
        const short = escapeForTerminal(text, max)
        expect([...short].length).toBeLessThanOrEqual(max)
        if (short !== whole) expect(short.endsWith('…') || max === 0).toBe(true)
      }),
    )
  })
})
