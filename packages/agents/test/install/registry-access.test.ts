import { expect, test } from 'vitest'
import { registryAccess } from '../../src/install/registry-access.ts'

const registry = 'https://packages.example/npm/'

test('allows egress only to the registries in npm’s settings', () => {
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
])('takes certificates from the settings: %o', (settings, expected) => {
  expect(registryAccess({ registry, ...settings }, {})).toMatchObject(expected)
})

test('passes on strict-ssl=false', () => {
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
])('uses the proxy %s', (_, settings, env, expected) => {
  expect(registryAccess({ registry, ...settings }, env).proxy?.href).toBe(expected)
})

test('uses no proxy for a registry on the loopback', () => {
  const settings = { registry: 'http://127.0.0.1:4873/', proxy: 'http://proxy.example/' }
  expect(registryAccess(settings, {}).proxy).toBeUndefined()
})

test.each([
  [{}, /npm has no registry/],
  [{ registry: 'nonsense' }, /npm's setting registry is not an http or https URL/],
  [{ registry, proxy: 'socks5://proxy.example' }, /must be an http:\/\/ URL/],
])('rejects unusable settings: %o', (settings, message) => {
  expect(() => registryAccess(settings, {})).toThrow(message)
})
