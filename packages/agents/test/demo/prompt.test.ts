import { expect, it } from 'vitest'
import { firstWord, readCommands, readNumbers } from '../../src/demo/prompt.ts'

const known = (name: string) => ['say', 'write', 'stall'].includes(name)

it.each([
  ['/say hello', [['say', 'hello']]],
  [
    '/say one\n/stall',
    [
      ['say', 'one'],
      ['stall', ''],
    ],
  ],
  [
    '/write a.txt one\ntwo\n\n/say done',
    [
      ['write', 'a.txt one\ntwo'],
      ['say', 'done'],
    ],
  ],
  ['  /say indented  ', [['say', 'indented']]],
  ['Some context.\n/say hello', [['say', 'hello']]],
  [
    '/dance\n/say hello',
    [
      ['dance', ''],
      ['say', 'hello'],
    ],
  ],
  ['/dance', [['dance', '']]],
  ['Hello', []],
  ['', []],
  ['/etc/passwd is a file', []],
  ['Look at\n/dance', []],
])('reads the commands of %j', (text, expected) => {
  expect(readCommands(text, known).map(({ name, argument }) => [name, argument])).toEqual(expected)
})

it('splits off the first word', () => {
  expect(firstWord('a.txt  two words\nand a line')).toEqual(['a.txt', 'two words\nand a line'])
  expect(firstWord('')).toEqual(['', ''])
})

it('reads numbers and names a word that is none', () => {
  expect(readNumbers('5', [1, 2])).toEqual([5, 2])
  expect(() => readNumbers('many', [1])).toThrow('Expected a number of 0 or more, got many.')
  expect(() => readNumbers('-1', [1])).toThrow()
})
