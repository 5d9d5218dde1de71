import { expect, test } from 'vitest'
import { registryAccess } from '../../src/install/registry-access.ts'

const registry = 'https://packages.example/npm/'

test('only what npm’s settings name is in reach', () => {
  const settings = { registry, '@mine:registry': 'http://mine.example:4873/', 'user-agent': 'npm' }
  expect(registryAccess(settings, {})).toEqual({
    args: [`--registry=${registry}`, '--@mine:registry=http://mine.example:4873/'],
    egress: ['packages.example:443', 'mine.example:4873'],
    certificates: [],
  })
})

test.each([
  [{ cafile: '/etc/ca.pem' }, { cafile: '/etc/ca.pem' }],
  [{ ca: 'PEM' }, { certificates: ['PEM'] }],
  [{ ca: ['A', 'B'] }, { certificates: ['A', 'B'] }],
  [{ ca: null, cafile: null }, { certificates: [] }],
])('certificates come from the settings: %o', (settings, expected) => {
  expect(registryAccess({ registry, ...settings }, {})).toMatchObject(expected)
})

test('a registry that is not checked is passed on as one', () => {
  expect(registryAccess({ registry, 'strict-ssl': false }, {}).args).toContain('--strict-ssl=false')
})

test.each([
  ['npm’s own', { 'https-proxy': 'http://proxy.example:8080/' }, {}, 'http://proxy.example:8080/'],
  ['the environment’s', {}, { HTTPS_PROXY: 'http://proxy.example:3128' }, 'http://proxy.example:3128/'],
  ['the old name’s', { proxy: 'http://old.example/' }, {}, 'http://old.example/'],
  ['none', { 'https-proxy': null, proxy: null }, {}, undefined],
  ['none for an exception', { noproxy: ['.example'] }, { HTTPS_PROXY: 'http://p.example:1' }, undefined],
  [
    'none for an exception in the environment',
    {},
    { HTTPS_PROXY: 'http://p.test:1', NO_PROXY: 'x, packages.example' },
    undefined,
  ],
])('the proxy is %s', (_, settings, env, expected) => {
  expect(registryAccess({ registry, ...settings }, env).proxy?.href).toBe(expected)
})

test('the own loopback is reached without a proxy', () => {
  const settings = { registry: 'http://127.0.0.1:4873/', proxy: 'http://proxy.example/' }
  expect(registryAccess(settings, {}).proxy).toBeUndefined()
})

test.each([
  [{}, /npm has no registry/],
  [{ registry: 'nonsense' }, /npm's setting registry is no address/],
  [{ registry, proxy: 'socks5://proxy.example' }, /must be an http:\/\/ address/],
])('what cannot be used is refused: %o', (settings, message) => {
  expect(() => registryAccess(settings, {})).toThrow(message)
})
