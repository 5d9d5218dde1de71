import { expect, it } from 'vitest'
import { callableUrl, checkExposure, floorFor, isLoopback, isolationFor } from '../../src/serve/exposure.ts'

it.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost', 'LOCALHOST', '::ffff:127.0.0.1'])(
  '%s is a loopback address',
  (host) => {
    expect(isLoopback(host)).toBe(true)
  },
)

it.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'localhost.example.com', '127.0.0.1.example.com', ''])(
  '%j is not a loopback address',
  (host) => {
    expect(isLoopback(host)).toBe(false)
  },
)

it('refuses other machines without isolation unless --allow-unisolated, and always without a token', () => {
  const unisolated = { host: '10.0.0.1', allowAnonymous: false, isolation: 'none' } as const
  expect(() => checkExposure({ ...unisolated, allowUnisolated: false })).toThrow('--allow-unisolated')
  expect(() => checkExposure({ ...unisolated, allowUnisolated: true })).not.toThrow()
  expect(() => checkExposure({ ...unisolated, allowAnonymous: true, allowUnisolated: true })).toThrow(
    '--no-token',
  )
})

it.each([
  ['127.0.0.1', 'auto', false, 'auto'],
  ['10.0.0.1', 'auto', false, 'bubblewrap'],
  ['10.0.0.1', 'auto', true, 'auto'],
  ['10.0.0.1', 'bubblewrap', false, 'bubblewrap'],
  ['10.0.0.1', 'none', true, 'none'],
] as const)(
  'sandboxes on %s with isolation %s (unisolated allowed: %s) use %s',
  (host, isolation, allowUnisolated, used) => {
    expect(isolationFor({ host, isolation, allowUnisolated })).toBe(used)
  },
)

it.each([
  ['127.0.0.1', false, {}],
  ['10.0.0.1', false, { isolation: 'bubblewrap' }],
  ['10.0.0.1', true, {}],
] as const)('the floor on %s (unisolated allowed: %s) is %j', (host, allowUnisolated, floor) => {
  expect(floorFor({ host, allowUnisolated })).toEqual(floor)
})

it('turns a wildcard address into one that callers on this machine can use', () => {
  expect(callableUrl('http://0.0.0.0:2468')).toBe('http://127.0.0.1:2468')
  expect(callableUrl('http://[::]:2468')).toBe('http://[::1]:2468')
  expect(callableUrl('http://10.0.0.1:2468')).toBe('http://10.0.0.1:2468')
})
