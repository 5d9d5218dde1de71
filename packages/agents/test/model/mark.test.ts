import { expect, test } from 'vitest'
import { findMark } from './mark.ts'

test.each([
  ['say:banana', { kind: 'say', word: 'banana' }],
  ['Please say:banana now', { kind: 'say', word: 'banana' }],
  ['think:', { kind: 'think', about: '' }],
  ['think: green apples', { kind: 'think', about: 'green apples' }],
  ['slow:tick', { kind: 'slow', about: 'tick' }],
  ['write:/tmp/a.txt:one: two', { kind: 'write', path: '/tmp/a.txt', content: 'one: two' }],
  ['write:a.txt:one\\ntwo', { kind: 'write', path: 'a.txt', content: 'one\ntwo' }],
  ['write:a.txt:', { kind: 'write', path: 'a.txt', content: '' }],
  ['run:echo say:hi; exit 3', { kind: 'run', command: 'echo say:hi; exit 3' }],
  ['run-escalated:id', { kind: 'run-escalated', command: 'id' }],
  ['error:429', { kind: 'error', status: 429 }],
])('finds the mark in %j', (text, mark) => {
  expect(findMark(text)).toEqual(mark)
})

test.each(['hello', 'error: no such file', 'I run: nothing', 'overwrite:a:b', 'write:a', 'dry-run:ls'])(
  'finds no mark in %j',
  (text) => {
    expect(findMark(text)).toBeUndefined()
  },
)

test('finds a mark inside the text that an agent wraps around the prompt', () => {
  expect(findMark('<context>\nrun:ls\n</context>\n<user_input mode="act">say:banana</user_input>\n')).toEqual(
    {
      kind: 'say',
      word: 'banana',
    },
  )
})
