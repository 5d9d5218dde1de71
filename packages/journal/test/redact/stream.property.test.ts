import type { JsonValue } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { secretForms } from '../../src/redact/forms.ts'
import { createRedactor } from '../../src/redact/redactor.ts'
import type { StreamRedactor } from '../../src/redact/stream.ts'
import { anySecret, anyText, withoutMarkers } from './secrets.ts'

function streamOf(secrets: readonly string[]): StreamRedactor {
  const redactor = createRedactor({ patterns: false })
  for (const [index, value] of secrets.entries()) redactor.add(`S${index}`, value)
  return redactor.stream()
}

interface Step {
  readonly length: number
  readonly path: 'a' | 'b'
  readonly release: boolean
}

const steps = fc.array(
  fc.record({
    length: fc.oneof(fc.constant(1), fc.nat(3), fc.nat(20)),
    path: fc.constantFrom('a' as const, 'b' as const),
    release: fc.oneof(
      { weight: 4, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
  }),
  { maxLength: 60 },
)

const withForms = fc
  .tuple(
    fc.array(anySecret, { minLength: 1, maxLength: 4 }),
    fc.array(fc.tuple(anyText, fc.nat(), fc.nat()), { maxLength: 4 }),
  )
  .map(([secrets, pieces]) => {
    const forms = secrets.map(secretForms)
    const text = pieces.map(([before, which, form]) => {
      const own = forms[which % forms.length] ?? []
      return before + own[form % own.length]
    })
    return { secrets, forms: forms.flat(), text: text.join('') }
  })

/** Sends a text along each path, split into values, and returns the output in order. */
function run(stream: StreamRedactor, texts: { a: string; b: string }, steps: readonly Step[]): JsonValue[] {
  const left = { ...texts }
  const out: JsonValue[] = []
  let count = 0
  const push = (path: 'a' | 'b', length: number) => {
    out.push(...stream.push({ count: count++, [path]: left[path].slice(0, length) }).ready)
    left[path] = left[path].slice(length)
  }
  for (const { path, length, release } of steps) {
    push(path, length)
    if (release) out.push(...stream.release())
  }
  push('a', left.a.length)
  push('b', left.b.length)
  out.push(...stream.end())
  expect(out.map((value) => field(value, 'count'))).toEqual(
    Array.from({ length: count }, (_, index) => index),
  )
  return out
}

function field(value: JsonValue, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

const joined = (values: readonly JsonValue[], path: string) =>
  values.map((value) => field(value, path) ?? '').join('')

describe('a stream cut anywhere and released at any time', () => {
  it('yields no complete form of a secret, loses no value and keeps the order', () => {
    fc.assert(
      fc.property(withForms, anyText, steps, ({ secrets, forms, text }, other, steps) => {
        const out = run(streamOf(secrets), { a: text, b: other + text }, steps)
        for (const path of ['a', 'b']) {
          const seen = withoutMarkers(joined(out, path))
          for (const form of forms) expect(seen).not.toContain(form)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('yields no byte form of a secret when the values are base64', () => {
    fc.assert(
      fc.property(withForms, steps, ({ secrets, forms, text }, steps) => {
        const stream = streamOf(secrets)
        let left = Buffer.from(text)
        const out: JsonValue[] = []
        for (const { length, release } of [...steps, { length: left.length, release: false }]) {
          out.push(
            ...stream.push({ encoding: 'base64', data: left.subarray(0, length).toString('base64') }).ready,
          )
          left = left.subarray(length)
          if (release) out.push(...stream.release())
        }
        out.push(...stream.end())
        const bytes = out.map((value) => Buffer.from(String(field(value, 'data')), 'base64'))
        const seen = withoutMarkers(Buffer.concat(bytes).toString('latin1'))
        for (const form of forms) expect(seen).not.toContain(Buffer.from(form).toString('latin1'))
      }),
    )
  })

  it('returns a text without a secret unchanged, value by value', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 60 })
    const letters = fc.string({ unit: fc.constantFrom(...'xyz'), minLength: 4, maxLength: 12 })
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 4 }), digits, digits, steps, (secrets, a, b, steps) => {
        const out = run(streamOf(secrets.map((secret) => `!${secret}`)), { a, b }, steps)
        expect(out).toEqual(run(streamOf([]), { a, b }, steps))
        expect(joined(out, 'a')).toBe(a)
      }),
    )
  })

  it('returns a text that only contains prefixes of secrets unchanged, if it is not released early', () => {
    fc.assert(
      fc.property(fc.array(anySecret, { maxLength: 4 }), anyText, anyText, steps, (secrets, a, b, steps) => {
        const end = '\u{F0001}'
        const forms = secrets.flatMap(secretForms)
        fc.pre(!forms.some((form) => a.includes(form) || b.includes(form) || form.includes(end)))
        const withoutRelease = steps.map((step) => ({ ...step, release: false }))
        const out = run(streamOf(secrets), { a: a + end, b: b + end }, withoutRelease)
        expect(joined(out, 'a')).toBe(a + end)
        expect(joined(out, 'b')).toBe(b + end)
      }),
    )
  })

  it('masks the same as in one piece when every split leaves at least four characters of the secret to hold', () => {
    const secret = 'abcdefghijkl'
    const piece = fc.tuple(fc.constantFrom('', '1', '22', '333333'), fc.integer({ min: 4, max: 11 }))
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
        const stream = streamOf([secret])
        const values = pieces.flatMap(([before, cut]) => [before + secret.slice(0, cut), secret.slice(cut)])
        const out = values.flatMap((value) => stream.push(value).ready)
        const redactor = createRedactor()
        redactor.add('S0', secret)
        expect(out.join('')).toBe(redactor.redactText(values.join('')))
      }),
    )
  })
})
