import { describe, expect, it } from 'vitest'
import { inputCheck } from '../../src/tools/input.ts'

const check = inputCheck({
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1 },
    days: { type: 'integer', default: 3 },
    unit: { enum: ['C', 'F'] },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['city', 'undescribed'],
  additionalProperties: true,
})

describe('tool input', () => {
  it('accepts input with its defaults and with properties that the schema does not name', () => {
    expect(check({ city: 'Ulm', undescribed: 1, more: null })).toEqual({
      ok: true,
      input: { city: 'Ulm', days: 3, undescribed: 1, more: null },
    })
  })

  it.each([
    ['a required field is missing', { undescribed: 1 }, /^city: .*expected string/],
    ['a field that is only required is missing', { city: 'Ulm' }, /^undescribed: missing$/],
    ['a type is another', { city: 1, undescribed: 1 }, /^city: .*expected string, received number/],
    ['a number is not whole', { city: 'a', undescribed: 1, days: 1.5 }, /^days: /],
    ['a value is none of those', { city: 'a', undescribed: 1, unit: 'K' }, /^unit: .*"C"\|"F"/],
    ['an item is of another type', { city: 'a', undescribed: 1, tags: ['x', 2] }, /^tags\.1: /],
  ])('rejects input when %s', (_what, input, why) => {
    expect(check(input)).toEqual({ ok: false, why: expect.stringMatching(why) })
  })

  it.each([
    [null, 'null'],
    ['text', 'a string'],
    [[], 'an array'],
  ])('rejects %o as input', (input, kind) => {
    expect(check(input)).toEqual({ ok: false, why: `expected an object, got ${kind}` })
  })

  it('lists a few problems of the input and the number of the rest', () => {
    const list = inputCheck({
      type: 'object',
      properties: { n: { type: 'array', items: { type: 'number' } } },
    })
    const checked = list({ n: Array.from({ length: 50 }, () => 'x') })
    expect(checked).toMatchObject({ ok: false, why: expect.stringMatching(/; and 40 more$/) })
  })
})

it('keeps schemas with the same $id separate', () => {
  const schema = { $id: 'same', type: 'object' }
  expect(inputCheck(schema)({})).toMatchObject({ ok: true })
  expect(inputCheck(schema)({})).toMatchObject({ ok: true })
})
