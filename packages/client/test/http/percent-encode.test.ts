import { expect, it } from 'vitest'
import { percentEncode } from '../../src/http/percent-encode.ts'

it.each([
  ['plain-1_2.3~', 'plain-1_2.3~'],
  ['a b', 'a%20b'],
  ['a/b', 'a%2Fb'],
  ['a+b&c=d?e#f%', 'a%2Bb%26c%3Dd%3Fe%23f%25'],
  ['é€😀', '%C3%A9%E2%82%AC%F0%9F%98%80'],
  ['caf\udce9', 'caf%E9'],
  ['\udc80\udcff', '%80%FF'],
  ['\udcc3\udca9', '%C3%A9'],
  ['nul\0', 'nul%00'],
])('encodes %j as %s', (text, encoded) => {
  expect(percentEncode(text)).toBe(encoded)
})

it.each(['\ud800', '\udc00', '\udc7f', '\udd00', 'a\udfff'])(
  'refuses %j, whose lone surrogate stands for no byte',
  (text) => {
    expect(() => percentEncode(text)).toThrow(expect.objectContaining({ code: 'argument_invalid' }))
  },
)
