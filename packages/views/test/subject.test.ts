import { expect, it } from 'vitest'
import { subjectOf } from '../src/subject.ts'

it.each([
  [{ command: 'npm test' }, 'npm test'],
  [{ command: ['npm', 'test'] }, 'npm test'],
  [{ argv: ['sh', '-c', "echo 'hi'"] }, `sh -c 'echo '\\''hi'\\'''`],
  [{ argv: ['printf', ''] }, "printf ''"],
  [{ path: 'src/a.ts' }, 'src/a.ts'],
  [{ paths: ['a', 'b'] }, 'a b'],
  [{ port: 3000 }, '3000'],
  [{}, undefined],
  [{ command: 7, path: null }, undefined],
])('subjectOf returns the subject of %j', (data, subject) => {
  expect(subjectOf(data)).toBe(subject)
})
