import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { secretForms } from '../../src/redact/forms.ts'
import { anySecret, anyText } from './secrets.ts'

describe('the forms of a secret', () => {
  it('are only the secret and its base64 when no other encoding changes it', () => {
    expect(secretForms('hunter22')).toEqual([
      'hunter22',
      'aHVudGVyMjI=',
      'aHVudGVyMjI%3D',
      'aHVudGVyMjI%3d',
      'aHVudGVyMjI',
      'aHVudGVyMj',
      'h1bnRlcjIy',
      'odW50ZXIyM',
    ])
  })

  it.each([
    ['JSON', 'a"b\\c\n', 'a\\"b\\\\c\\n'],
    ['JSON inside JSON', 'a"bc', 'a\\\\\\"bc'],
    ['JSON of ASCII characters only', 'pässe', 'p\\u00e4sse'],
    ['JSON of ASCII characters only, in capitals', 'pässe', 'p\\u00E4sse'],
    ['JSON of ASCII characters only, beyond the first plane', 'abc😀', 'abc\\ud83d\\ude00'],
    ['JSON with escaped slashes', 'ab/cd', 'ab\\/cd'],
    ['JSON that is safe in HTML', 'ab<c&d', 'ab\\u003cc\\u0026d'],
    ['a URL', 'a/b c!', 'a%2Fb%20c!'],
    ['a URL in small letters', 'a/b c!', 'a%2fb%20c!'],
    ['a URL that leaves slashes', 'a/b c!', 'a/b%20c!'],
    ['a URL that leaves nothing', 'a/b c!', 'a%2Fb%20c%21'],
    ['a form', 'a/b c!', 'a%2Fb+c%21'],
    ['base64 for URLs', '??>>~~', 'Pz8-Pn5-'],
    ['base64 inside JSON', '??????', 'Pz8\\/Pz8\\/'],
    ['base64 inside a URL', '??????', 'Pz8%2FPz8%2F'],
    ['a file with a line end', 'hunter22\n', 'hunter22'],
    ['a terminal', 'one\ntwo', 'one\r\ntwo'],
  ])('include %s', (_, secret, form) => {
    expect(secretForms(secret)).toContain(form)
  })

  it('include each long line of a multi-line secret, but not its PEM header', () => {
    const lines = ['MIIEvQIBADANBgkqhkiG9w0BAQ', 'SCBKcwggSjAgEAAoIBAQC7VJTU', 'short']
    const forms = secretForms(
      ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n'),
    )
    expect(forms).toContain(lines[0])
    expect(forms).toContain(lines[1])
    expect(forms).not.toContain('short')
    expect(forms).not.toContain('-----BEGIN PRIVATE KEY-----')
  })

  it('include the wrapped lines of its base64', () => {
    const secret = 'correct horse battery staple '.repeat(4)
    const encoded = Buffer.from(secret).toString('base64')
    expect(secretForms(secret)).toEqual(
      expect.arrayContaining([encoded.slice(0, 76), encoded.slice(64, 128)]),
    )
  })

  it('exist for a secret that is not well-formed Unicode', () => {
    expect(secretForms('abc\ud800def')).toContain('abc\ud800def')
  })

  it('are distinct and never shorter than four characters', () => {
    fc.assert(
      fc.property(anySecret, (secret) => {
        const forms = secretForms(secret)
        expect(new Set(forms).size).toBe(forms.length)
        expect(forms.every((form) => form.length >= 4)).toBe(true)
        expect(forms).toContain(secret)
      }),
    )
  })

  it('match the base64 of the secret inside any other bytes', () => {
    fc.assert(
      fc.property(anyText, anySecret, anyText, (before, secret, after) => {
        fc.pre(Buffer.byteLength(secret) >= 5)
        const encoded = Buffer.from(before + secret + after).toString('base64')
        expect(secretForms(secret).some((form) => encoded.includes(form))).toBe(true)
      }),
    )
  })
})
