import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CopyRules, copyJson } from '../../src/redact/copy.ts'

const asIs: CopyRules = {
  text: (text) => text,
  key: (key) => key,
  bytes: (bytes) => Buffer.from(bytes).toString('base64'),
}
const copy = (value: unknown) => copyJson(value, asIs)

class Point {
  x = 1
  #hidden = 2
  get sum() {
    return this.x + this.#hidden
  }
}

describe('a JSON copy', () => {
  it('equals the round trip through JSON for every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(copy(value)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('never throws and is valid JSON for any value', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    fc.assert(
      fc.property(anything, (value) => {
        const copied = copy(value)
        expect(JSON.parse(JSON.stringify(copied))).toEqual(copied)
      }),
    )
  })

  it('shares nothing with the value', () => {
    const value = { list: [{ a: 1 }] }
    const copied = copy(value)
    value.list[0]!.a = 2
    value.list.push({ a: 3 })
    expect(copied).toEqual({ list: [{ a: 1 }] })
  })

  it.each<[string, unknown, unknown]>([
    ['undefined in an object, which is left out', { a: undefined, b: 1 }, { b: 1 }],
    ['undefined in a list, which is null', [undefined, 1], [null, 1]],
    ['undefined alone, which is null', undefined, null],
    ['numbers that are none, which are null', [Number.NaN, Number.POSITIVE_INFINITY], [null, null]],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a date that is none', new Date(Number.NaN), null],
    ['a big number', 12345678901234567890n, '12345678901234567890'],
    ['a function', { run() {} }, { run: '[function run]' }],
    ['a function without a name', [() => 1], ['[function]']],
    ['a symbol', Symbol('sign'), 'sign'],
    ['a map with texts as keys', new Map([['a', new Map([['b', 1]])]]), { a: { b: 1 } }],
    ['a map with other keys', new Map([[1, 'a']]), [[1, 'a']]],
    ['a set', new Set([1, 'a']), [1, 'a']],
    ['bytes', new Uint8Array([104, 105]), 'aGk='],
    ['a part of bytes', Buffer.from('ohio').subarray(1, 3), 'aGk='],
    ['a buffer', new Uint8Array([104, 105]).buffer, 'aGk='],
    ['an error', new RangeError('too far'), { name: 'RangeError', message: 'too far' }],
    ['an instance of a class', new Point(), { x: 1 }],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['a boxed text', new String('a'), 'a'],
    ['objects with toJSON', { toJSON: () => ({ a: new Date(0) }) }, { a: '1970-01-01T00:00:00.000Z' }],
    ['a URL', new URL('http://a/'), 'http://a/'],
  ])('takes %s', (_, value, expected) => {
    expect(copy(value)).toEqual(expected)
  })

  it('marks values that it could not read', () => {
    const value = {
      good: 1,
      get bad() {
        throw new Error('no')
      },
    }
    expect(copy(value)).toEqual({ good: 1, bad: '[unreadable]' })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(copy({ proxy })).toEqual({ proxy: '[unreadable]' })
    const failing = {
      toJSON() {
        throw new Error('no')
      },
    }
    expect(copy([failing, 1])).toEqual(['[unreadable]', 1])
  })

  it('marks circular references, but copies a value that occurs twice', () => {
    const shared = { a: 1 }
    const value: { [key: string]: unknown } = { one: shared, two: shared }
    value.self = value
    value.list = [value]
    expect(copy(value)).toEqual({ one: { a: 1 }, two: { a: 1 }, self: '[circular]', list: ['[circular]'] })
  })

  it('stops at a hundred levels', () => {
    let value: unknown = 'bottom'
    for (let level = 0; level < 100; level++) value = [value]
    expect(JSON.stringify(copy(value))).toContain('"bottom"')
    expect(JSON.stringify(copy([value]))).toContain('"[too deep]"')
    const endless = { toJSON: () => ({ endless }) }
    expect(JSON.stringify(copy(endless))).toMatch(/circular|too deep/)
  })

  it('keeps __proto__ as an ordinary key', () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":true},"a":1}')
    const copied = copy(value)
    expect(JSON.stringify(copied)).toBe('{"__proto__":{"polluted":true},"a":1}')
    expect(Object.getPrototypeOf(copied)).toBe(Object.prototype)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('keeps every value when two keys become equal', () => {
    const masked = { ...asIs, key: (key: string) => (key.startsWith('secret') ? 'X' : key) }
    expect(copyJson({ secret1: 1, secret2: 2, X: 3, 'X~3': 4 }, masked)).toEqual({
      'X~2': 1,
      'X~4': 2,
      X: 3,
      'X~3': 4,
    })
  })
})
