import { expect, test } from 'vitest'
import { explainNpm, lastLines } from '../../src/install/explain-npm.ts'

test.each([
  ['npm error code ETARGET\nnpm error notarget No matching version found for x@9.9.9.', 'no such version'],
  ['npm error code E404\nnpm error 404 Not Found - GET http://r.example/x', 'no such package'],
  ['npm error code E401\nnpm error Unable to authenticate', 'may require a login'],
  ['npm error code ENOSPC\nnpm error nospc no space left on device', 'disk of the agent cache is full'],
  ['npm error code SELF_SIGNED_CERT_IN_CHAIN', 'certificate is not trusted'],
  ['npm error code ECONNREFUSED\nnpm error network request failed', 'registry cannot be reached'],
  ['npm error code EAI_AGAIN', '`npm config get registry`'],
  ['npm error network socket hang up', 'registry cannot be reached'],
  ['npm error code EWHATEVER', 'npm failed'],
])('explains %s', (output, expected) => {
  const explained = explainNpm({ output, outcome: 'failed', refused: [] })
  expect(explained).toContain(expected)
  expect(explained).toContain(`Output of npm:\n${output}`)
})

test('names a refused host before any other cause', () => {
  const output = 'npm error code ECONNRESET'
  expect(
    explainNpm({ output, outcome: 'failed', refused: ['files.example:443', 'files.example:443'] }),
  ).toMatch(/^npm tried to connect to files\.example:443, which is not/)
})

test('explains a timeout', () => {
  expect(explainNpm({ output: '', outcome: 'timeout', refused: [] })).toMatch(/^it took too long; check/)
})

test('returns the last twenty lines without logins', () => {
  const many = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n')
  expect(lastLines(many).split('\n')).toHaveLength(20)
  expect(lastLines('via http://me:secret@proxy.example:8080/\n\n')).toBe('via http://…@proxy.example:8080/')
})
