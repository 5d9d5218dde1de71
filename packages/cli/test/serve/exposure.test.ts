import { expect, it } from 'vitest'
import { addressFor, checkExposure, isLoopback, isolationFor } from '../../src/serve/exposure.ts'

it.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost', 'LOCALHOST', '::ffff:127.0.0.1'])(
  '%s is this machine',
  (host) => {
    expect(isLoopback(host)).toBe(true)
  },
)

it.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'localhost.example.com', '127.0.0.1.example.com', ''])(
  '%j may be reached from elsewhere',
  (host) => {
    expect(isLoopback(host)).toBe(false)
  },
)

it('lets no isolation out only when that was said', () => {
  const bare = { host: '10.0.0.1', allowAnonymous: false, isolation: 'none' } as const
  expect(() => checkExposure({ ...bare, allowUnisolated: false })).toThrow('--allow-unisolated')
  expect(() => checkExposure({ ...bare, allowUnisolated: true })).not.toThrow()
  expect(() => checkExposure({ ...bare, allowAnonymous: true, allowUnisolated: true })).toThrow('--no-token')
})

it.each([
  ['127.0.0.1', 'auto', false, 'auto'],
  ['10.0.0.1', 'auto', false, 'bubblewrap'],
  ['10.0.0.1', 'auto', true, 'auto'],
  ['10.0.0.1', 'bubblewrap', false, 'bubblewrap'],
  ['10.0.0.1', 'none', true, 'none'],
] as const)('on %s, %s (unisolated allowed: %s) means %s', (host, isolation, allowUnisolated, meant) => {
  expect(isolationFor({ host, isolation, allowUnisolated })).toBe(meant)
})

it('gives callers on this machine an address that they can call', () => {
  expect(addressFor('http://0.0.0.0:2468')).toBe('http://127.0.0.1:2468')
  expect(addressFor('http://[::]:2468')).toBe('http://[::1]:2468')
  expect(addressFor('http://10.0.0.1:2468')).toBe('http://10.0.0.1:2468')
})
