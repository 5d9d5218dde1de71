import { expect, test } from 'vitest'
import { lastTurn } from './completion-request.ts'

test('counts only tool results after the last message of the user', () => {
  expect(
    lastTurn([
      { by: 'user', text: 'run:ls' },
      { by: 'model', text: '' },
      { by: 'tool', text: 'old' },
      { by: 'user', text: 'run:pwd' },
      { by: 'tool', text: 'new' },
    ]),
  ).toEqual({ earlier: 'run:ls', prompt: 'run:pwd', results: ['new'] })
})

test('ignores a reminder that an agent adds after a tool result', () => {
  expect(
    lastTurn([
      { by: 'user', text: 'run:ls' },
      { by: 'tool', text: 'a.txt' },
      { by: 'user', text: '<system-reminder>\nsay:nothing\n</system-reminder>' },
    ]),
  ).toEqual({ earlier: '', prompt: 'run:ls', results: ['a.txt'] })
})
