import { describe, expect, it } from 'vitest'
import { leaked } from '../../../../conformance/src/masking/encodings.ts'
import { scale } from '../../../../conformance/src/scale.ts'
import { createRedactor } from '../../src/redact/redactor.ts'

const secret = 'Abc4-correct-horse/battery+staple?0123 "456789&the-rest-of-a-long-key'

function redactor(value = secret) {
  const created = createRedactor()
  created.add('KEY', value)
  return created
}

const lines = (text: string, width: number, gap: string) =>
  (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(gap)
const bytes = (spell: (byte: number) => string, text = secret) =>
  Buffer.from(text).reduce((all, byte) => all + spell(byte), '')

function streamed(chunks: readonly string[], value = secret): string {
  const stream = redactor(value).stream()
  const shown = [...chunks.flatMap((text) => stream.push({ text }).ready), ...stream.end()]
  return shown.map((event) => (event as { text: string }).text).join('')
}

describe('a secret after text that makes an escape of its beginning', () => {
  const before = [
    '%',
    '%4',
    '\\',
    '\\x',
    '\\x4',
    '\\u',
    '\\u0',
    '\\u00',
    '\\u004',
    '\\0',
    '\\06',
    '\\1',
    '\\\\',
  ]
  const twice = ['%25', '%5C', '%5Cu', '\\x5c', '\\134', '\\u005c']

  it.each([...before, ...twice])('is masked as wrapped hexadecimal and base64 after %s', (introducer) => {
    // Each of them begins with other letters, so that every escape has digits to swallow.
    for (const value of [
      secret,
      'ABCD4-correct-horse-battery',
      'x41-correct-horse-battery',
      'Mn4-correct-horse-battery',
    ])
      for (const gap of ['\\n', '\\\n', '%0A', '\\012', '\\r\\n'].slice(0, scale.swallowedGaps))
        for (const encoding of ['hex', 'base64', 'base64url'] as const) {
          const text = `${introducer}${lines(Buffer.from(value).toString(encoding), 20, gap)} end`
          expect(leaked(value, redactor(value).redactText(text)), text).toBeUndefined()
          expect(leaked(value, streamed([...text], value)), text).toBeUndefined()
        }
  })

  it('is masked when its own first escape is made text', () => {
    const spelled = bytes((byte) => `%5Cx${byte.toString(16)}`)
    expect(leaked(secret, redactor().redactText(`%5C${spelled}`))).toBeUndefined()
  })
})

describe('a secret whose first escape is made text', () => {
  it('is masked when its second letter is a chunk of its own', () => {
    const value = 'T_+_UC+/i-/-/I_m=/_6D+//'
    const rest =
      '%252b_%5C125%2543%5C53%5Cu002f%2569%5Cx2d%5C57-%252fI%5C137%256d%5C75%5Cu002f%255F%5Cx36%5C104%2B%252f%2F'
    expect(leaked(value, streamed(['\\134%5C124', '_', rest], value))).toBeUndefined()
    expect(leaked(value, streamed(['\\134%5C124', ...value.slice(1)], value))).toBeUndefined()
  })
})

describe('a secret in octal', () => {
  it.each([
    [
      'one to three digits',
      bytes((byte) => `\\${byte.toString(8)}`, 'abc!?-correct-horse-battery'),
      'abc!?-correct-horse-battery',
    ],
    ['two digits', '\\61\\62\\63\\64-\\65\\66\\67\\70-abcdefghij', '1234-5678-abcdefghij'],
    [
      'a zero and three digits, as `echo -e` reads it',
      bytes((byte) => `\\0${byte.toString(8).padStart(3, '0')}`),
      secret,
    ],
    [
      'a zero and three digits, escaped again',
      bytes((byte) => `\\\\0${byte.toString(8).padStart(3, '0')}`),
      secret,
    ],
  ])('is masked with %s', (_, spelled, value) => {
    expect(redactor(value).redactText(`<${spelled}>`)).toBe('<[redacted:KEY]>')
  })

  it('is masked with three digits for a line break before a digit, which `echo -e` reads as a letter', () => {
    const value = 'first-line-of-a-key\n4-second-line-of-it'
    expect(redactor(value).redactText(`<${value.replace('\n', '\\012')}>`)).toBe('<[redacted:KEY]>')
  })
})

describe('an escape that is cut', () => {
  it.each([
    ['\\', (byte: string) => `u00${byte}`],
    ['%', (byte: string) => byte],
    ['\\u00', (byte: string) => byte],
    ['\\x', (byte: string) => byte],
    ['\\\\', (byte: string) => `u00${byte}`],
    ['%5', (byte: string) => `Cx${byte}`],
  ])('is masked when every chunk ends with %s', (head, rest) => {
    const chunks = ['<', ...[...Buffer.from(secret)].map((byte) => rest(byte.toString(16)) + head)]
    const text = `<${head}${chunks.slice(1).join('')}`.slice(0, -head.length)
    expect(leaked(secret, redactor().redactText(text))).toBeUndefined()
    expect(leaked(secret, streamed([`<${head}`, ...chunks.slice(1)]))).toBeUndefined()
  })

  it.each([1, 2, 3, 4, 5, 7])('is masked in octal that is cut into chunks of %i characters', (size) => {
    for (const spelled of [
      bytes((byte) => `\\${byte.toString(8).padStart(3, '0')}`),
      bytes((byte) => `\\${byte.toString(8)}`, 'abc!?-correct-horse-battery'),
      bytes((byte) => `\\0${byte.toString(8).padStart(3, '0')}`),
    ]) {
      const value = spelled.includes('\\41') ? 'abc!?-correct-horse-battery' : secret
      expect(leaked(value, streamed(lines(spelled, size, '\0').split('\0'), value))).toBeUndefined()
    }
  })
})

describe('a secret that a program quotes', () => {
  const value = `it's "a" <key> & 100% of it, 0123456789 😀`
  it.each([
    ['a shell', value.replaceAll("'", "'\\''")],
    ['python for a shell', value.replaceAll("'", `'"'"'`)],
    ['SQL', value.replaceAll("'", "''")],
    ['CSV', value.replaceAll('"', '""')],
    [
      'HTML',
      value
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;'),
    ],
    ['the old function escape of JavaScript', escape(value)],
    ['%uXXXX', value.replace(/./gs, (unit) => `%u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)],
    [
      '\\UXXXXXXXX',
      [...value].map((letter) => `\\U${letter.codePointAt(0)!.toString(16).padStart(8, '0')}`).join(''),
    ],
  ])('is masked as %s writes it', (_, quoted) => {
    expect(redactor(value).redactText(`<${quoted}>`)).toBe('<[redacted:KEY]>')
  })

  it.each([
    ['lines in double quotes', '"\n"'],
    ['a list', '", "'],
    ['a quoted mail', '\n> '],
  ])('is masked as base64 in %s', (_, gap) => {
    expect(redactor().redactText(`<${lines(Buffer.from(secret).toString('base64'), 20, gap)}>`)).toBe(
      '<[redacted:KEY]>',
    )
  })

  it.each([':', ',', ', '])('is masked as hexadecimal bytes with %j between them', (gap) => {
    expect(redactor().redactText(`<${lines(Buffer.from(secret).toString('hex'), 2, gap)}>`)).toBe(
      '<[redacted:KEY]>',
    )
  })
})

describe('a secret with a backslash before its signs', () => {
  it('is masked as a shell quotes it', () => {
    expect(redactor().redactText(`key=${secret.replace(/[^\w-]/g, '\\$&')}`)).toBe('key=[redacted:KEY]')
  })

  it('is masked as base64 with a backslash at the end of each line', () => {
    const text = lines(Buffer.from(secret).toString('base64'), 20, '\\\n')
    expect(redactor().redactText(`<${text}>`)).toBe('<[redacted:KEY]>')
  })
})
