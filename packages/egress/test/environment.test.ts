import { describe, expect, it } from 'vitest'
import { proxyEnvironment } from '../src/environment.ts'

describe('the environment of a sandbox with a proxy', () => {
  it('sets the proxy variables in both cases and exempts the loopback', () => {
    const variables = proxyEnvironment(3128)
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) {
      expect(variables[name]).toBe('http://127.0.0.1:3128')
      expect(variables[name.toLowerCase()]).toBe(variables[name])
    }
    expect(variables.NO_PROXY).toBe('localhost,127.0.0.1,::1')
    expect(variables.no_proxy).toBe(variables.NO_PROXY)
    expect(variables.NODE_USE_ENV_PROXY).toBe('1')
  })

  it.each([0, 65_536, 1.5, Number.NaN])('refuses port %d', (port) => {
    expect(() => proxyEnvironment(port)).toThrow(/port: expected a whole number/)
  })
})
