import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../src/redact/redactor.ts'

const secret = 'correct-horse/battery+staple?0123 "456789&the-rest-of-a-long-key'
const key = '[redacted:KEY]'

function redactor() {
  const created = createRedactor()
  created.add('KEY', secret)
  return created
}

const hex = (text: string) => [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, '0'))
const lines = (text: string, width: number, gap: string) =>
  (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(gap)

describe('a secret in a text', () => {
  it.each([
    ['encodeURI', encodeURI(secret)],
    ['encodeURIComponent', encodeURIComponent(secret)],
    ['%XX of every byte', `%${hex(secret).join('%')}`],
    ['%XX of every byte, in capitals', `%${hex(secret).join('%').toUpperCase()}`],
    ['%XX of some bytes', secret.replaceAll('r', '%72').replaceAll('?', '%3f')],
    [
      '\\u00XX',
      hex(secret)
        .map((byte) => `\\u00${byte}`)
        .join(''),
    ],
    ['\\xXX', `\\x${hex(secret).join('\\x')}`],
    ['octal', [...Buffer.from(secret)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')],
    ['mixed spellings', secret.replace('c', '%63').replace('o', '\\u006f').replace('r', '\\x72')],
    ['%XX inside %XX', encodeURIComponent(`%${hex(secret).join('%')}`)],
    ['hexadecimal', hex(secret).join('')],
    ['hexadecimal with spaces', hex(secret).join(' ')],
    ['hexadecimal in lines', lines(hex(secret).join('').toUpperCase(), 60, '\n')],
  ])('is masked as %s', (_, spelled) => {
    expect(redactor().redactText(`<${spelled}>`)).toBe(`<${key}>`)
  })

  it.each([4, 20, 64, 76])('is masked as base64 in lines of %i characters', (width) => {
    for (const gap of ['\n', '\r\n', ' ', '\n  ', '\\n', '\\r\\n', '\\\\n'])
      for (const before of ['', 'a', 'ab', 'abc', 'a user of this key: '.repeat(3)])
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = lines(Buffer.from(`${before}${secret} and more`).toString(encoding), width, gap)
          const shown = redactor().redactText(text)
          expect(shown).toContain(key)
          const left = shown.replace(key, '').replaceAll(gap, '').length
          expect(left).toBeLessThan(Buffer.from(`${before} and more`).toString('base64').length + 6)
        }
  })

  it.each([
    ['token-ABCDEFGH-0123456789-xyz', '\\token%2DABCDEFGH-0123456789-xyz'],
    ['token-ABCDEFGH-0123456789-xyz', '\\token%252DABCDEFGH-0123456789-xyz'],
    ['abcdef-ABCDEFGH-0123456789-xyz', '%abcdef\\x2dABCDEFGH-0123456789-xyz'],
    ['x41bc-ABCDEFGH-0123456789-xyz', '\\x41bc%2DABCDEFGH-0123456789-xyz'],
  ])('is masked when the character before %s makes an escape of its beginning', (value, text) => {
    const created = createRedactor()
    created.add('KEY', value)
    expect(created.redactText(`<${text}>`)).toBe(`<${key}>`)
  })

  it.each([
    ['\\xXX', 'p\\xe4ssw\\xf6rd-€-0123456789-\\xdf-😀'],
    ['%XX and %uXXXX', escape('pässwörd-€-0123456789-ß-😀')],
    ['octal', 'p\\344ssw\\366rd-€-0123456789-\\337-😀'],
    ['octal after a zero', 'p\\0344ssw\\0366rd-€-0123456789-\\0337-😀'],
    ['\\xXX, escaped again', 'p\\\\xe4ssw\\\\xf6rd-€-0123456789-\\\\xdf-😀'],
  ])('is masked when %s is a character of Latin-1 beside others', (_, text) => {
    const created = createRedactor()
    created.add('KEY', 'pässwörd-€-0123456789-ß-😀')
    expect(created.redactText(`<${text}>`)).toBe(`<${key}>`)
    const bytes = created.redactBytes(Buffer.from(`<${text}>`)).bytes
    expect(Buffer.from(bytes).toString()).toBe(`<${key}>`)
    const stream = created.stream()
    const halves = [`<${text.slice(0, 16)}`, `${text.slice(16)}>`]
    const shown = halves.flatMap((half) => stream.push({ text: half }).ready)
    expect([...shown, ...stream.end()].map((value) => (value as { text: string }).text).join('')).toBe(
      `<${key}>`,
    )
  })

  it('is masked between words that are far from its escapes', () => {
    const words = 'words that have no escape, and are longer than what is looked at beside one. '
    const spelled = secret.replace('r', '%72').replace('q', '\\x71')
    for (const before of ['', words, `${words}\\n${words}`, `${words}%41${words}\\\\n`])
      for (const after of ['', words, `${words}\\n${words}`])
        expect(redactor().redactText(`${before}<${spelled}>${after}`)).toBe(`${before}<${key}>${after}`)
  })

  it('is masked when it is partly escaped and cut inside a surrogate pair', () => {
    const created = createRedactor()
    created.add('KEY', 'abc-😀-0123456789-xyz')
    const stream = created.stream()
    const shown = [
      ...stream.push({ text: '<abc%2D\ud83d' }).ready,
      ...stream.push({ text: '\ude00%2D0123456789-xyz>' }).ready,
      ...stream.end(),
    ]
    expect(shown.map((value) => (value as { text: string }).text).join('')).toBe(`<${key}>`)
  })

  it('leaves words alone that are a short secret only without their spaces', () => {
    const created = createRedactor()
    created.add('SHORT', 'test')
    expect(created.redactText('what established te st')).toBe('what established te st')
  })
})
