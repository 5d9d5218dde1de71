import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../src/redact/redactor.ts'
import type { StreamRedactor } from '../../src/redact/stream.ts'

function streamOf(secrets: { [name: string]: string }): StreamRedactor {
  const redactor = createRedactor()
  for (const [name, value] of Object.entries(secrets)) redactor.add(name, value)
  return redactor.stream()
}

const chunk = (data: string, offset = 0) => ({ process: 'p1', stream: 'stdout', offset, data })
const ready = (...values: unknown[]) => ({ ready: values, holding: false })
const holding = (...values: unknown[]) => ({ ready: values, holding: true })

describe('a stream', () => {
  it('returns values at once that contain no prefix of a secret', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push(chunk('hello '))).toEqual(ready(chunk('hello ')))
    expect(stream.push(chunk('world'))).toEqual(ready(chunk('world')))
    expect(stream.end()).toEqual([])
  })

  it('puts the marker of a split secret into the first value', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push(chunk('a hunt', 0))).toEqual(holding())
    expect(stream.push(chunk('er22 b', 6))).toEqual(ready(chunk('a [redacted:KEY]', 0), chunk(' b', 6)))
  })

  it('masks a secret split over many values and leaves the last one empty', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect([...'hunter22!'].flatMap((unit) => stream.push({ data: unit }).ready)).toEqual(
      ['h', 'u', 'n', '[redacted:KEY]', '', '', '', '', '!'].map((data) => ({ data })),
    )
  })

  it('does not hold a value for three characters, and masks the rest of the secret', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push('a hun')).toEqual(ready('a hun'))
    expect(stream.push('ter22 b')).toEqual(ready('[redacted:KEY] b'))
  })

  it.each([
    ['in one value', ['X😀', '%5']],
    ['in several', ['X', '\ud83d', '\ude00', '%', '5']],
    ['of two bytes each', ['Xéé', '%', '5']],
    ['before an escape of a percent sign', ['X😀%2', '5', '5']],
  ])('masks a secret that begins with wide characters before an unfinished escape, %s', (_name, begin) => {
    const secret = `${begin.join('').replace(/%.*/, '')}UfR7-a-secret-of-some-length`
    const stream = streamOf({ KEY: secret })
    const values = [...begin, '5fR7-a-secret-of-some-length'].flatMap((data) => stream.push({ data }).ready)
    const shown = [...values, ...stream.end()].map((value) => (value as { data: string }).data).join('')
    expect(shown).toContain('[redacted:KEY]')
    expect(shown).not.toContain('a-secret-of')
  })

  it('returns a text unchanged that turns out not to be a secret', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push('hunter')).toEqual(holding())
    expect(stream.push('s gather')).toEqual(ready('hunter', 's gather'))
  })

  it('keeps the order: values after a held value are held too', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push({ text: 'hunter' })).toEqual(holding())
    expect(stream.push({ other: 'x' })).toEqual(holding())
    expect(stream.push({ text: '22' })).toEqual(
      ready({ text: '[redacted:KEY]' }, { other: 'x' }, { text: '' }),
    )
  })

  it('continues a match only in the text at the same path', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    stream.push({ a: { b: 'hunter' }, list: ['x', 'y'] })
    expect(stream.push({ a: 'er22', list: ['er22', { b: '22' }] })).toEqual(holding())
    expect(stream.push({ a: { b: '22' } }).ready).toHaveLength(3)
  })

  it('distinguishes paths whose joined keys are equal', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push({ 'a.b': 'hunter' })).toEqual(holding())
    expect(stream.push({ a: { b: '22' } })).toEqual(holding())
  })

  it('tracks several texts of one value', () => {
    const stream = streamOf({ A: 'hunter22', B: 'letmein1' })
    expect(stream.push({ a: 'hunter', b: 'letme' })).toEqual(holding())
    expect(stream.push({ a: '22' })).toEqual(holding())
    expect(stream.push({ b: 'in2' })).toEqual(
      ready({ a: '[redacted:A]', b: 'letme' }, { a: '' }, { b: 'in2' }),
    )
  })

  it('waits for the longer of two secrets and falls back to the shorter', () => {
    const stream = streamOf({ SHORT: 'abcd', LONG: 'abcdefgh' })
    expect(stream.push('abcd')).toEqual(holding())
    expect(stream.push('efgh')).toEqual(ready('[redacted:LONG]', ''))
    expect(stream.push('abcde')).toEqual(holding())
    expect(stream.push('x')).toEqual(ready('[redacted:SHORT]e', 'x'))
  })

  it('masks encoded forms and keys too', () => {
    const stream = streamOf({ KEY: 'hunter "22"' })
    expect(stream.push({ 'hunter "22"': 1, text: '{"a":"hunter \\"' })).toEqual(holding())
    expect(stream.push({ text: '22\\""}' })).toEqual(
      ready({ '[redacted:KEY]': 1, text: '{"a":"[redacted:KEY]' }, { text: '"}' }),
    )
  })

  it('masks patterns within a value', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push('Authorization: Bearer abcdefghi')).toEqual(
      ready('Authorization: Bearer [redacted:bearer]'),
    )
  })

  it('handles secrets that are registered and unregistered while it runs', () => {
    const redactor = createRedactor()
    const stream = redactor.stream()
    expect(stream.push('hunter')).toEqual(ready('hunter'))
    const undo = redactor.add('KEY', 'hunter22')
    expect(stream.push('hunter')).toEqual(holding())
    undo()
    expect(stream.push('22')).toEqual(ready('hunter', '22'))
  })

  it('copies its input', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    const value = { text: 'hunter' }
    stream.push(value)
    value.text = 'changed'
    expect(stream.end()).toEqual([{ text: '[redacted:KEY]' }])
  })
})

describe('releasing a stream', () => {
  it('masks half a secret or more', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    stream.push('a hunt')
    expect(stream.release()).toEqual(['a [redacted:KEY]'])
    expect(stream.release()).toEqual([])
  })

  it('shows less than half a secret, and masks the rest later', () => {
    const stream = streamOf({ KEY: 'correct horse battery' })
    stream.push('a corre')
    expect(stream.release()).toEqual(['a corre'])
    expect(stream.push('ct ')).toEqual(holding())
    expect(stream.push('horse battery!')).toEqual(ready('[redacted:KEY]', '!'))
  })

  it('adds no second marker when the first half was masked', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    stream.push('a hunt')
    expect(stream.release()).toEqual(['a [redacted:KEY]'])
    expect(stream.push('er22 b')).toEqual(ready(' b'))
  })

  it('masks a complete secret inside the prefix of another', () => {
    const stream = streamOf({ LONG: 'abcdefghijklmnopqrstuvwxyz', SHORT: 'cdef' })
    stream.push('abcdefg')
    expect(stream.release()).toEqual(['ab[redacted:SHORT]g'])
  })

  it('happens by itself when more than 64 KiB are held', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push({ a: 'hunter' })).toEqual(holding())
    expect(stream.push({ b: 'x'.repeat(60_000) })).toEqual(holding())
    const { ready, holding: isHolding } = stream.push({ b: 'y'.repeat(6_000) })
    expect(ready).toEqual([{ a: '[redacted:KEY]' }, { b: 'x'.repeat(60_000) }, { b: 'y'.repeat(6_000) }])
    expect(isHolding).toBe(false)
    expect(stream.push({ a: 'hunter' })).toEqual(holding())
  })

  it('clears all state at the end', () => {
    const stream = streamOf({ KEY: 'correct horse battery' })
    stream.push('corre')
    expect(stream.end()).toEqual(['corre'])
    expect(stream.push('ct horse battery')).toEqual(ready('ct horse battery'))
  })

  it('forgets the least recently used of more than 1,000 channels, and none that is in use', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    stream.push('hun', 'old')
    for (let index = 0; index < 3_000; index++) {
      stream.push('hun', ['new', `c${index}`])
      stream.push('x', 'new')
    }
    stream.push('hun', 'new')
    for (let index = 0; index < 400; index++) stream.push('hun', `d${index}`)
    expect(stream.push('ter22', 'new')).toEqual(ready('[redacted:KEY]'))
    expect(stream.push('ter22', 'old')).toEqual(ready('ter22'))
  })

  it('forgets channels and paths whose keys are longer than 1 MiB in total', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    const long = 'k'.repeat(300_000)
    for (let index = 0; index < 4; index++) stream.push({ [`${long}${index}`]: 'hun' }, `c${index}`)
    expect(stream.push({ [`${long}0`]: 'ter22' }, 'c0')).toEqual(ready({ [`${long}0`]: 'ter22' }))
    expect(stream.push({ [`${long}3`]: 'ter22' }, 'c3')).toEqual(ready({ [`${long}3`]: '[redacted:KEY]' }))
  })

  it('limits the number of tracked paths', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    const many = Object.fromEntries(Array.from({ length: 12_000 }, (_, index) => [`k${index}`, 'hu']))
    expect(stream.push(many).holding).toBe(false)
    expect(stream.push({ k1: 'nter22' })).toEqual(ready({ k1: 'nter22' }))
  })
})

describe('a stream of bytes in base64', () => {
  const binary = (data: string, ...bytes: number[]) => ({
    encoding: 'base64',
    data: Buffer.concat([Buffer.from(data), Buffer.from(bytes)]).toString('base64'),
  })

  it('masks a secret within a value and stays base64', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push(binary('a hunter22 b', 255))).toEqual(ready(binary('a [redacted:KEY] b', 255)))
    expect(stream.push(binary('nothing', 255))).toEqual(ready(binary('nothing', 255)))
  })

  it('masks a secret split over values', () => {
    const stream = streamOf({ KEY: 'pässwörd' })
    expect(stream.push(binary('a pässw', 195))).toEqual(holding())
    expect(stream.push(binary('\xb6rd', 255)).ready).toHaveLength(2)
    const split = Buffer.from('pässwörd')
    const first = { encoding: 'base64', data: split.subarray(0, 7).toString('base64') }
    const second = { encoding: 'base64', data: split.subarray(7).toString('base64') }
    expect(stream.push(first)).toEqual(holding())
    expect(stream.push(second)).toEqual(ready(binary('[redacted:KEY]'), binary('')))
  })

  it('masks a secret that continues from text in bytes and from bytes in text', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push({ encoding: 'utf8', data: 'hunte' })).toEqual(holding())
    expect(stream.push(binary('r22', 255))).toEqual(
      ready({ encoding: 'utf8', data: '[redacted:KEY]' }, binary('', 255)),
    )
    expect(stream.push({ ...binary('hunte') })).toEqual(holding())
    expect(stream.push({ encoding: 'utf8', data: 'r22!' })).toEqual(
      ready(binary('[redacted:KEY]'), { encoding: 'utf8', data: '!' }),
    )
  })

  it('ends a match where one character is no longer one byte', () => {
    const stream = streamOf({ KEY: 'pässwörd' })
    expect(stream.push({ encoding: 'utf8', data: 'pässw' })).toEqual(holding())
    expect(stream.push(binary('x', 255))).toEqual(
      ready({ encoding: 'utf8', data: '[redacted:KEY]' }, binary('x', 255)),
    )
  })

  it('treats invalid base64 as text', () => {
    const stream = streamOf({ KEY: 'hunter22' })
    expect(stream.push({ encoding: 'base64', data: 'my hunter22!' })).toEqual(
      ready({ encoding: 'base64', data: 'my [redacted:KEY]!' }),
    )
  })
})
