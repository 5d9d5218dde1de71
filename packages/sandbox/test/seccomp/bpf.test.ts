import { describe, expect, test } from 'vitest'
import { assemble, jump, label, load, returnValue } from '../../src/seccomp/bpf.ts'

describe('assemble', () => {
  test('writes struct sock_filter, little endian, with labels as distances', () => {
    const bytes = assemble([
      load(4),
      jump('equal', 0xc000003e, 'same'),
      returnValue(0x00050026),
      label('same'),
      returnValue(0x7fff0000),
    ])
    expect(Buffer.from(bytes).toString('hex').match(/.{16}/g)).toEqual([
      '2000000004000000',
      '150001003e0000c0',
      '0600000026000500',
      '060000000000ff7f',
    ])
  })

  test('allows two labels at one position', () => {
    expect(assemble([jump('any-bit', 1, 'b'), label('a'), label('b'), returnValue(0)])[2]).toBe(0)
  })

  test.each([
    ['a missing label', [jump('equal', 1, 'gone'), returnValue(0)], 'no label gone'],
    [
      'a label that is defined twice',
      [label('a'), returnValue(0), label('a'), returnValue(0)],
      'a is defined twice',
    ],
    ['a jump back', [label('a'), load(0), jump('equal', 1, 'a'), returnValue(0)], 'jump to a is -2'],
    [
      'a jump too far',
      [jump('equal', 1, 'a'), ...Array.from({ length: 256 }, () => load(0)), label('a'), returnValue(0)],
      'jump to a is 256',
    ],
  ])('rejects %s', (_, lines, message) => {
    expect(() => assemble(lines)).toThrow(message)
  })
})
