import { describe, expect, it } from 'vitest'
import { checkEnvironment, environmentOfHost, systemPath } from '../../src/machine/environment.ts'

describe('the environment of plain processes', () => {
  it('inherits the variables that programs need and no secrets', () => {
    const host = {
      PATH: '/opt/bin',
      LANG: 'de_AT.UTF-8',
      TZ: 'UTC',
      HOME: '/home/me',
      API_KEY: 'hunter2',
      NODE_OPTIONS: '--inspect',
      LD_PRELOAD: '/x.so',
      SSH_AUTH_SOCK: '/run/ssh',
      HTTPS_PROXY: 'http://user:pass@proxy',
    }
    expect(environmentOfHost(host)).toEqual({ PATH: '/opt/bin', LANG: 'de_AT.UTF-8', TZ: 'UTC' })
  })

  it('has defaults for PATH and LANG where the host has none', () => {
    expect(environmentOfHost({})).toEqual({ PATH: systemPath, LANG: 'C.UTF-8' })
  })
})

describe('variables', () => {
  it.each([{}, { A: '' }, { 'with space': 'x=y\n' }, { ä: '😀' }])('accepts the variables %j', (env) => {
    expect(() => checkEnvironment(env)).not.toThrow()
  })

  it.each([
    [{ '': 'x' }, 'got an empty one'],
    [{ 'A=B': 'x' }, 'begins with "A"'],
    [{ 'A\0B': 'x' }, 'begins with "A"'],
    [{ A: 'x\0y' }, 'env.A'],
  ])('rejects the variables %j', (env, named) => {
    expect(() => checkEnvironment(env)).toThrow(
      expect.objectContaining({ code: 'environment_invalid', message: expect.stringContaining(named) }),
    )
  })

  it('rejects a value that is not a string', () => {
    const env: Record<string, string> = JSON.parse('{"COUNT": 5}')
    expect(() => checkEnvironment(env)).toThrow(expect.objectContaining({ code: 'environment_invalid' }))
  })
})
