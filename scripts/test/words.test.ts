import { describe, expect, it } from 'vitest'
import { commentComplaints, nameComplaints, readSource, sentenceComplaints } from '../words.ts'
import { allowedNames, privateNames } from '../words-table.ts'

const namesIn = (text: string) => nameComplaints('a.ts', readSource('a.ts', text).names)

it('has at most 25 exceptions, each with a reason', () => {
  expect(allowedNames.length).toBeLessThanOrEqual(25)
  for (const { reason } of allowedNames) expect(reason).toMatch(/\w{3}/)
})

describe('nameComplaints', () => {
  it.each([
    ['a variable', 'const calledOff = 1', 'calledOff'],
    ['a part of a name', 'const isCalledOff = 1', 'isCalledOff'],
    ['a function', 'function within() {}', 'within'],
    ['a function in a variable', 'const settle = () => 1', 'settle'],
    ['a method', 'class A { lookAgain() {} }', 'lookAgain'],
    ['a private field', 'class A { #letGo = 1 }', 'letGo'],
    ['a member of an interface', 'interface A { readonly pipesHeld?: boolean }', 'pipesHeld'],
    ['a key of an object', 'export const a = { afterUnkept: 1 }', 'afterUnkept'],
    ['a quoted key', "export const a = { 'afterUnkept': 1 }", 'afterUnkept'],
    ['a parameter', 'function a(keeper: number) {}', 'keeper'],
    ['a part of a pattern', 'const { patient } = a', 'patient'],
    ['an element of a list', 'const [reach] = a', 'reach'],
    ['an interface', 'interface Place {}', 'Place'],
    ['an exported type', 'export type Waiting = 1', 'Waiting'],
    ['a class', 'class Seats {}', 'Seats'],
  ])('refuses %s', (_what, text, name) => {
    expect(namesIn(text)).toEqual([expect.stringMatching(`^a.ts:1: ${name}: say `)])
  })

  it.each([
    ['a use of a name', 'import { keeper } from "x"; keeper()'],
    ['a rest element', 'const { a, ...rest } = b'],
    ['a variable with the name of a refused function', 'const again = 1'],
    ['the name of another package’s member', 'process.on("exit", a.tell)'],
    ['a computed key', 'export const a = { [keeperOf()]: 1 }'],
  ])('takes %s', (_what, text) => {
    expect(namesIn(text)).toEqual([])
  })

  it('never refuses a name that it proposes', () => {
    const proposed = privateNames.flatMap(({ instead }) => instead.match(/^\w+$/) ?? [])
    expect(proposed.length).toBeGreaterThan(50)
    const names = proposed.flatMap((name) =>
      (['type', 'callable', 'other'] as const).map((kind) => ({ name, kind, line: 1 })),
    )
    expect(nameComplaints('a.ts', names)).toEqual([])
  })
})

it('refuses a comment that begins with a relative clause, in every form of comments', () => {
  const text = '/** What is kept. */\n// Who asks.\n/**\n * Whoever comes.\n */\n/* Of whom it is. */\n'
  const { comments } = readSource('a.ts', text)
  expect(commentComplaints('a.ts', comments).map((one) => one.split(':')[1])).toEqual(['1', '2', '3', '6'])
})

it('takes a comment that is a question, and words that only begin alike', () => {
  const { comments } = readSource(
    'a.ts',
    '/** What is it? */\n// Whole pages only.\n// The host: what it is.\n',
  )
  expect(commentComplaints('a.ts', comments)).toEqual([])
})

it('refuses sentences, list items and cells of documents, and takes headings, code and questions', () => {
  const text = [
    '# What it is',
    'It runs. What it says is kept.',
    '- Who asks is told.',
    '| a | What it does |',
    'What is it?',
    '```',
    'What is code',
    '```',
    '1. Whoever calls',
  ].join('\n')
  expect(sentenceComplaints('a.md', text).map((one) => one.split(':')[1])).toEqual(['2', '3', '4', '9'])
})
