import { isVitrineError } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { readAllowList } from '../src/allow-list.ts'
import { createEgressProxy } from '../src/proxy.ts'

const thrownBy = (call: () => unknown) => {
  try {
    call()
  } catch (error) {
    return error
  }
  throw new Error('Expected the call to throw.')
}

describe('an allow-list', () => {
  it('matches exactly the listed targets, in any spelling', () => {
    const allow = readAllowList(['Registry.Example.:443', '[::ffff:10.0.0.5]:8080', '[::1]:3000'])
    expect(allow.has({ host: 'registry.example', port: 443 })).toBe(true)
    expect(allow.has({ host: '10.0.0.5', port: 8080 })).toBe(true)
    expect(allow.has({ host: '::1', port: 3000 })).toBe(true)
    expect(allow.has({ host: 'registry.example', port: 80 })).toBe(false)
    expect(allow.has({ host: 'sub.registry.example', port: 443 })).toBe(false)
  })

  it.each([
    'registry.example',
    'https://registry.example:443',
    'registry.example:443/npm',
    'me@registry.example:443',
    '*.example:443',
    '*',
    'registry.example:*',
    ' registry.example:443',
    '',
  ])('refuses %j and says what to write instead', (entry) => {
    const error = thrownBy(() => readAllowList(['good.example:443', entry]))
    expect(isVitrineError(error) && error.code).toBe('argument_invalid')
    expect(String(error)).toContain('allow[1]: expected exactly one host and one port')
    expect(String(error)).toContain(`got ${JSON.stringify(entry)}: it `)
    expect(String(error)).toContain('Add a separate entry for each host and port')
  })

  it('one invalid entry prevents the proxy (attack 13: a policy that fails open)', () => {
    const record = async () => undefined
    expect(() => createEgressProxy({ allow: ['good.example:443', 'bad'], record })).toThrow(/allow\[1\]/)
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses a limit of %d connections',
    (connections) => {
      const record = async () => undefined
      expect(() => createEgressProxy({ allow: [], record, limits: { connections } })).toThrow(
        /limits.connections/,
      )
    },
  )
})
