import type { JsonValue } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutInto, encoded, leaked, longSecret } from '../../../../conformance/src/masking/encodings.ts'
import { scale } from '../../../../conformance/src/scale.ts'
import { createRedactor } from '../../src/redact/redactor.ts'

const numRuns = scale.maskedTexts

const written = longSecret.chain((secret) =>
  fc.record({ secret: fc.constant(secret), written: encoded(secret) }),
)
const releases = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 })
const cut = written.chain(({ secret, written }) =>
  fc.record({
    secret: fc.constant(secret),
    encoding: fc.constant(written.encoding),
    chunks: cutInto(written.text),
    between: fc.array(fc.constantFrom('', 'a', 'ordinary text ', 'abc\n', '\\u00', '%4', '\\', '%', '\\0'), {
      minLength: 1,
    }),
    releases,
  }),
)

const piecesOf = (minLength: number, maxLength: number) =>
  fc
    .array(fc.constantFrom('__lookupGetter__', 'upGetter__', '__look', 'Getter__kup', '__'), {
      minLength: 1,
      maxLength: 30,
    })
    .map((pieces) => pieces.join(''))
    .filter(({ length }) => length >= minLength && length <= maxLength)

/** Two secrets of the same pieces, and a text with each of them. */
const similar = fc
  .oneof(
    fc.tuple(piecesOf(16, 120), piecesOf(16, 120)).map((secrets) => ({ secrets, values: secrets })),
    // The end of one is the beginning of the other.
    fc.tuple(piecesOf(8, 60), piecesOf(8, 60), piecesOf(8, 60)).map(([first, shared, last]) => ({
      secrets: [first + shared, shared + last],
      values: [first + shared + last, first + shared + last],
    })),
  )
  .chain(({ secrets: [a, b], values: [inA, inB] }) =>
    fc.record({
      secrets: fc.constant([a!, b!] as const),
      texts: fc.tuple(encoded(inA!), encoded(inB!)).map((both) => both.map(({ text }) => text)),
    }),
  )
const similarCut = similar.chain(({ secrets, texts }) =>
  fc.record({
    secrets: fc.constant(secrets),
    a: cutInto(texts[0]!),
    b: cutInto(texts[1]!),
    releases,
  }),
)

function textOf(values: readonly JsonValue[], channel: string): string {
  return values
    .map((value) => value as { channel: string; text: string })
    .filter((value) => value.channel === channel)
    .map(({ text }) => text)
    .join('')
}

describe('a secret of 16 to 120 characters in any promised encoding', () => {
  it('shows no 12 consecutive characters in a text', () => {
    fc.assert(
      fc.property(written, ({ secret, written: { text } }) => {
        const redactor = createRedactor()
        redactor.add('KEY', secret)
        expect(leaked(secret, redactor.redactText(text))).toBeUndefined()
        const bytes = redactor.redactBytes(Buffer.from(text)).bytes
        expect(leaked(secret, Buffer.from(bytes).toString())).toBeUndefined()
      }),
      { numRuns },
    )
  })

  it('shows none when it is cut anywhere, with other channels in between, at any time', () => {
    fc.assert(
      fc.property(cut, ({ secret, chunks, between, releases }) => {
        const redactor = createRedactor()
        redactor.add('KEY', secret)
        const stream = redactor.stream()
        const out: JsonValue[] = []
        for (const [index, text] of chunks.entries()) {
          out.push(...stream.push({ channel: 'a', text }, 'a').ready)
          const other = between[index % between.length]!
          out.push(...stream.push({ channel: 'b', text: other }, 'b').ready)
          if (releases[index % releases.length]) out.push(...stream.release())
        }
        out.push(...stream.end())
        expect(leaked(secret, textOf(out, 'a'))).toBeUndefined()
        const others = chunks.map((_, index) => between[index % between.length]).join('')
        expect(textOf(out, 'b')).toBe(others)
      }),
      { numRuns },
    )
  })

  it('shows none when two channels write different secrets at once', () => {
    fc.assert(
      fc.property(cut, cut, (a, b) => {
        const redactor = createRedactor()
        redactor.add('A', a.secret)
        redactor.add('B', b.secret)
        const stream = redactor.stream()
        const out: JsonValue[] = []
        for (let index = 0; index < Math.max(a.chunks.length, b.chunks.length); index++) {
          out.push(...stream.push({ channel: 'a', text: a.chunks[index] ?? '' }, 'a').ready)
          out.push(...stream.push({ channel: 'b', text: b.chunks[index] ?? '' }, 'b').ready)
        }
        out.push(...stream.end())
        expect(leaked(a.secret, textOf(out, 'a'))).toBeUndefined()
        expect(leaked(b.secret, textOf(out, 'b'))).toBeUndefined()
      }),
      { numRuns: numRuns / 4 },
    )
  })
})

describe('two secrets of 16 to 120 characters of which one may begin where the other ends', () => {
  function redactorOf(secrets: readonly string[]) {
    const redactor = createRedactor()
    for (const [index, secret] of secrets.entries()) redactor.add(`KEY${index}`, secret)
    return redactor
  }

  it('show no 12 consecutive characters when the first of them ends inside the second', () => {
    const secrets = [
      '__lookupGetter____lookupGetter______lookupGetter______look__lookupGetter__Getter__kup',
      '____lookupGetter____lookupGetter__',
    ]
    const hex = Buffer.from(`9:\n9X_${secrets[0]}`).toString('hex').toUpperCase()
    const text = (hex.match(/.{1,64}/g) ?? []).join('\\x0a')
    const redactor = redactorOf(secrets)
    expect(leaked(secrets[0]!, redactor.redactText(text))).toBeUndefined()
    for (const length of [1, 7, 64, text.length]) {
      const stream = redactor.stream()
      const chunks = text.match(new RegExp(`.{1,${length}}`, 'gs')) ?? []
      const out = [...chunks.flatMap((chunk) => stream.push(chunk).ready), ...stream.end()]
      expect(leaked(secrets[0]!, out.join(''))).toBeUndefined()
    }
  })

  it('show none in a text', () => {
    fc.assert(
      fc.property(similar, ({ secrets, texts }) => {
        const redactor = redactorOf(secrets)
        for (const [index, text] of texts.entries()) {
          expect(leaked(secrets[index]!, redactor.redactText(text))).toBeUndefined()
          const { bytes } = redactor.redactBytes(Buffer.from(text))
          expect(leaked(secrets[index]!, Buffer.from(bytes).toString())).toBeUndefined()
        }
      }),
      { numRuns: scale.similarTexts },
    )
  })

  it('show none when two channels write them, cut anywhere, at any time', () => {
    fc.assert(
      fc.property(similarCut, ({ secrets, a, b, releases }) => {
        const stream = redactorOf(secrets).stream()
        const out: JsonValue[] = []
        for (let index = 0; index < Math.max(a.length, b.length); index++) {
          out.push(...stream.push({ channel: 'a', text: a[index] ?? '' }, 'a').ready)
          out.push(...stream.push({ channel: 'b', text: b[index] ?? '' }, 'b').ready)
          if (releases[index % releases.length]) out.push(...stream.release())
        }
        out.push(...stream.end())
        expect(leaked(secrets[0], textOf(out, 'a'))).toBeUndefined()
        expect(leaked(secrets[1], textOf(out, 'b'))).toBeUndefined()
      }),
      { numRuns: scale.similarTexts },
    )
  })
})
