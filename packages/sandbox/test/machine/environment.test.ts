import { describe, expect, it } from 'vitest'
import { checkEnvironment, environmentOfHost, systemPath } from '../../src/machine/environment.ts'

describe('the environment of plain processes', () => {
  it('has of the host what they need to run, and none of its secrets', () => {
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

  it('has a path and a language where the host has none', () => {
    expect(environmentOfHost({})).toEqual({ PATH: systemPath, LANG: 'C.UTF-8' })
  })
})

describe('variables', () => {
  it.each([{}, { A: '' }, { 'with space': 'x=y\n' }, { ä: '😀' }])('may be %j', (env) => {
    expect(() => checkEnvironment(env)).not.toThrow()
  })

  it.each([
    [{ '': 'x' }, '""'],
    [{ 'A=B': 'x' }, 'A=B'],
    [{ 'A\0B': 'x' }, 'A\\0B'],
    [{ A: 'x\0y' }, 'env.A'],
  ])('may not be %j', (env, named) => {
    expect(() => checkEnvironment(env)).toThrow(
      expect.objectContaining({ code: 'environment_invalid', message: expect.stringContaining(named) }),
    )
  })

  it('may not be anything but text', () => {
    const env: Record<string, string> = JSON.parse('{"COUNT": 5}')
    expect(() => checkEnvironment(env)).toThrow(expect.objectContaining({ code: 'environment_invalid' }))
  })
})
