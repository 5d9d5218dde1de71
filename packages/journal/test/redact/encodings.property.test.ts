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
const cut = written.chain(({ secret, written }) =>
  fc.record({
    secret: fc.constant(secret),
    encoding: fc.constant(written.encoding),
    chunks: cutInto(written.text),
    between: fc.array(fc.constantFrom('', 'a', 'ordinary text ', 'abc\n', '\\u00', '%4', '\\', '%', '\\0'), {
      minLength: 1,
    }),
    releases: fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
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
