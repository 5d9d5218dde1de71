import { isVitrineError } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { secretForms } from '../../src/redact/forms.ts'
import { createRedactor } from '../../src/redact/redactor.ts'
import { anySecret, anyText, withoutMarkers } from './secrets.ts'

function redactorOf(secrets: { [name: string]: string }) {
  const redactor = createRedactor({ patterns: false })
  for (const [name, value] of Object.entries(secrets)) redactor.add(name, value)
  return redactor
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return isVitrineError(error) ? error.code : 'another'
  }
  return 'none'
}

describe('a redactor', () => {
  it('masks a secret by its name', () => {
    const redactor = redactorOf({ DB_PASSWORD: 'hunter22' })
    expect(redactor.redactText('psql: hunter22!')).toBe('psql: [redacted:DB_PASSWORD]!')
  })

  it('masks every form of a secret inside any text', () => {
    const pieces = fc.array(fc.record({ which: fc.nat(), form: fc.nat(), before: anyText }), { maxLength: 6 })
    fc.assert(
      fc.property(
        fc.array(anySecret, { minLength: 1, maxLength: 4 }),
        pieces,
        anyText,
        (secrets, pieces, after) => {
          const redactor = redactorOf(Object.fromEntries(secrets.entries()))
          const forms = secrets.map(secretForms)
          const text = pieces.map(({ which, form, before }) => {
            const own = forms[which % forms.length] ?? []
            return before + own[form % own.length]
          })
          const masked = withoutMarkers(redactor.redactText(text.join('') + after))
          for (const form of forms.flat()) expect(masked).not.toContain(form)
        },
      ),
    )
  })

  it('returns a text without a secret unchanged', () => {
    fc.assert(
      fc.property(fc.array(anySecret, { maxLength: 4 }), anyText, (secrets, text) => {
        fc.pre(!secrets.flatMap(secretForms).some((form) => text.includes(form)))
        expect(redactorOf(Object.fromEntries(secrets.entries())).redactText(text)).toBe(text)
      }),
    )
  })

  it.each([
    ['Basic authorization', `Basic ${btoa('user:s3cret-word')}`],
    ['base64 one byte later', btoa(`a${'s3cret-word'}b`)],
    ['base64 two bytes later', btoa(`ab${'s3cret-word'}c`)],
    ['base64 of JSON', btoa(JSON.stringify({ password: 's3cret-word', more: 1 }))],
  ])('masks a secret inside %s', (_, text) => {
    const masked = redactorOf({ KEY: 's3cret-word' }).redactText(text)
    expect(masked).toContain('[redacted:KEY]')
    for (const form of secretForms('s3cret-word')) expect(masked).not.toContain(form)
  })

  it('masks the longest of secrets with a common prefix, and overlapping ones together', () => {
    const redactor = redactorOf({ SHORT: 'abcd', LONG: 'abcdefgh', OTHER: 'ghij' })
    expect(redactor.redactText('abcdefgh abcdef abcdefghij')).toBe(
      '[redacted:LONG] [redacted:SHORT]ef [redacted:LONG]',
    )
  })

  it('replaces characters of a name that a marker must not contain', () => {
    const names = ['my key', 'ä', 'x'.repeat(100), ''].map((name) =>
      redactorOf({ [name]: 'hunter22' }).redactText('hunter22'),
    )
    expect(names).toEqual([
      '[redacted:my_key]',
      '[redacted:_]',
      `[redacted:${'x'.repeat(64)}]`,
      '[redacted:secret]',
    ])
  })

  it('shows no name that contains the secret', () => {
    expect(redactorOf({ 'is-hunter22': 'hunter22' }).redactText('hunter22')).toBe('[redacted:secret]')
  })

  it('prefers the name of a registered secret to that of a pattern', () => {
    const redactor = createRedactor()
    redactor.add('DB', 's3cret-word')
    expect(redactor.redactText('pg://app:s3cret-word@db and pg://app:other@db')).toBe(
      'pg://app:[redacted:DB]@db and pg://app:[redacted:url-password]@db',
    )
    expect(redactor.redactText('Authorization: Bearer aaaa.s3cret-word.bbbb')).toBe(
      'Authorization: Bearer [redacted:DB]',
    )
  })

  it('unregisters one secret only', () => {
    fc.assert(
      fc.property(anySecret, anySecret, anyText, (kept, removed, text) => {
        const redactor = redactorOf({ kept })
        const whole = text + kept + removed
        const before = redactor.redactText(whole)
        const undo = redactor.add('removed', removed)
        redactor.redactText(whole)
        undo()
        undo()
        expect(redactor.redactText(whole)).toBe(before)
        expect(redactor.size).toBe(1)
      }),
    )
  })

  it('masks a value registered under two names until both are unregistered', () => {
    const redactor = createRedactor()
    const first = redactor.add('A', 'hunter22')
    const second = redactor.add('B', 'hunter22')
    expect(redactor.redactText('hunter22')).toBe('[redacted:A]')
    first()
    expect(redactor.redactText('hunter22')).toBe('[redacted:B]')
    second()
    expect(redactor.redactText('hunter22')).toBe('hunter22')
    expect(redactor.size).toBe(0)
  })

  it('rejects secrets that are too short, too long, too many or not text', () => {
    const redactor = createRedactor()
    expect(codeOf(() => redactor.add('A', 'abc'))).toBe('secret_too_short')
    expect(codeOf(() => redactor.add('A', 'a'.repeat(64 * 1024 + 1)))).toBe('argument_invalid')
    expect(codeOf(() => Reflect.apply(redactor.add, redactor, ['A', 1234]))).toBe('argument_invalid')
    expect(codeOf(() => Reflect.apply(redactor.add, redactor, [undefined, 'hunter22']))).toBe(
      'argument_invalid',
    )
    for (let index = 0; index < 10_000; index++) redactor.add('A', `secret number ${index}`)
    expect(codeOf(() => redactor.add('A', 'one more'))).toBe('secret_limit')
    expect(redactor.redactText('secret number 9876!')).toBe('[redacted:A]!')
  })

  it('rejects secrets of more than 4 MiB in total, and accepts more once some are unregistered', () => {
    const redactor = createRedactor()
    const big = (index: number) => `${index}${'x'.repeat(64 * 1024 - 2)}`
    const undo = Array.from({ length: 64 }, (_, index) => redactor.add('A', big(10 + index)))
    expect(codeOf(() => redactor.add('A', 'one more'))).toBe('secret_limit')
    undo[0]?.()
    expect(codeOf(() => redactor.add('A', 'one more'))).toBe('none')
  })

  it('does not include a rejected secret in its error', () => {
    expect(() => createRedactor().add('A', 'xyz')).toThrow(/^(?!.*xyz).*$/)
  })
})

describe('redacting a value', () => {
  it('masks every text and every key', () => {
    const redactor = redactorOf({ KEY: 'hunter22' })
    expect(
      redactor.redactValue({ hunter22: ['a', { b: 'x hunter22 y' }], n: 1, 'aHVudGVyMjI=': null }),
    ).toEqual({
      '[redacted:KEY]': ['a', { b: 'x [redacted:KEY] y' }],
      n: 1,
      '[redacted:KEY]~2': null,
    })
  })

  it('masks secrets in values that it converts to text', () => {
    const redactor = redactorOf({ KEY: 'hunter22', NUMBER: '12345678' })
    expect(
      redactor.redactValue({
        bytes: Buffer.from('a hunter22 b'),
        big: 12345678n,
        error: new Error('no hunter22'),
        map: new Map([['hunter22', Symbol('hunter22')]]),
      }),
    ).toEqual({
      bytes: btoa('a [redacted:KEY] b'),
      big: '[redacted:NUMBER]',
      error: { name: 'Error', message: 'no [redacted:KEY]' },
      map: { '[redacted:KEY]': '[redacted:KEY]' },
    })
  })

  it('equals the round trip through JSON without a secret', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(redactorOf({ KEY: '\u{E000}\u{E001}\u{E002}\u{E003}' }).redactValue(value)).toEqual(
          JSON.parse(JSON.stringify(value)),
        )
      }),
    )
  })
})

describe('redacting bytes', () => {
  it('returns the same bytes when there is nothing to mask', () => {
    const bytes = new Uint8Array([0, 255, 254, 97, 98, 99, 100])
    const redacted = redactorOf({ KEY: 'hunter22' }).redactBytes(bytes)
    expect(redacted).toEqual({ bytes, redacted: false })
    expect(redacted.bytes).toBe(bytes)
  })

  it('masks UTF-8 forms in binary data', () => {
    const redactor = redactorOf({ KEY: 'pässwörd' })
    const around = [Buffer.from([0, 255]), Buffer.from([195])] as const
    const { bytes, redacted } = redactor.redactBytes(
      Buffer.concat([around[0], Buffer.from('pässwörd'), around[1]]),
    )
    expect(redacted).toBe(true)
    expect(Buffer.from(bytes)).toEqual(Buffer.concat([around[0], Buffer.from('[redacted:KEY]'), around[1]]))
  })

  it('masks the same in UTF-8 bytes as in text', () => {
    fc.assert(
      fc.property(anySecret, anyText, anyText, (secret, before, after) => {
        const redactor = redactorOf({ KEY: secret.toWellFormed() })
        const text = (before + secret + after).toWellFormed()
        const { bytes } = redactor.redactBytes(Buffer.from(text))
        expect(Buffer.from(bytes).toString()).toBe(redactor.redactText(text))
      }),
    )
  })

  it('searches for patterns in text only', () => {
    const token = `ghp_${'aB3dE5gH7'.repeat(4)}`
    const redactor = createRedactor()
    expect(Buffer.from(redactor.redactBytes(Buffer.from(token)).bytes).toString()).toBe(
      '[redacted:github-token]',
    )
    expect(redactor.redactBytes(Buffer.concat([Buffer.from(token), Buffer.from([255])])).redacted).toBe(false)
  })
})

describe('redactContinued', () => {
  const redactor = createRedactor()
  redactor.add('KEY', 'hunter22-correct-horse')
  const base64 = Buffer.from('hunter22-correct-horse').toString('base64')
  const continued = (before: string, after: string) => {
    const { bytes, redacted } = redactor.redactContinued(Buffer.from(before + after), before.length)
    return { text: Buffer.from(bytes).toString(), redacted }
  }

  it.each([
    ['as it is', 'a hunter22-', 'correct-horse b'],
    ['in base64', base64.slice(0, 12), `${base64.slice(12)} b`],
    ['escaped', 'a hunter22%2', 'Dcorrect-horse b'],
    ['of a well-known shape', 'a ghp_', `${'a'.repeat(36)} b`],
  ])('masks the end of a secret %s', (_name, before, after) => {
    expect(continued(before, after)).toEqual({
      text: expect.stringMatching(/^\[redacted:[^\]]+\] b$/),
      redacted: true,
    })
  })

  it('leaves what begins after the index', () => {
    const text = 'a hunter22-correct-horse b hunter22-corr'
    expect(continued('ordinary ', text)).toEqual({ text, redacted: false })
    expect(continued('hunter22-', `correct-horse ${text}`)).toEqual({
      text: `[redacted:KEY] ${text}`,
      redacted: true,
    })
  })
})
