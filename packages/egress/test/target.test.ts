import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAllowList } from '../src/allow-list.ts'
import { readTarget, showTarget } from '../src/target.ts'

const shown = (text: string, defaultPort?: number) => {
  const read = readTarget(text, defaultPort)
  return 'host' in read ? showTarget(read) : `refused: ${read.reason}`
}

describe('a target in another spelling is the same target', () => {
  it.each([
    ['registry.example:443', 'registry.example:443'],
    ['Registry.EXAMPLE:443', 'registry.example:443'],
    ['registry.example.:443', 'registry.example:443'],
    ['_dmarc.a_b.example:53', '_dmarc.a_b.example:53'],
    ['r3---sn.example:443', 'r3---sn.example:443'],
    ['münchen.example:443', 'xn--mnchen-3ya.example:443'],
    ['XN--MNCHEN-3YA.example:443', 'xn--mnchen-3ya.example:443'],
    ['ａllowed。com:443', 'allowed.com:443'],
    ['１２７.0.0.1:80', '127.0.0.1:80'],
    ['127.0.0.1:80', '127.0.0.1:80'],
    ['127.0.0.1.:80', '127.0.0.1:80'],
    ['2130706433:80', '127.0.0.1:80'],
    ['0x7f000001:80', '127.0.0.1:80'],
    ['0X7F.1:80', '127.0.0.1:80'],
    ['017700000001:80', '127.0.0.1:80'],
    ['0177.0.0.01:80', '127.0.0.1:80'],
    ['127.1:80', '127.0.0.1:80'],
    ['127.0.1:80', '127.0.0.1:80'],
    ['0:80', '0.0.0.0:80'],
    ['[::1]:3000', '[::1]:3000'],
    ['[0:0:0:0:0:0:0:1]:3000', '[::1]:3000'],
    ['[0000::0001]:3000', '[::1]:3000'],
    ['[::0.0.0.1]:3000', '[::1]:3000'],
    ['[2001:DB8:0:0:1:0:0:1]:3000', '[2001:db8::1:0:0:1]:3000'],
    ['[::ffff:127.0.0.1]:80', '127.0.0.1:80'],
    ['[::FFFF:7f00:1]:80', '127.0.0.1:80'],
    ['[0:0:0:0:0:ffff:7f00:0001]:80', '127.0.0.1:80'],
    ['localhost:65535', 'localhost:65535'],
  ])('parses %s as %s', (text, expected) => expect(shown(text)).toBe(expected))

  it('uses the default port if the request omits it', () => {
    expect(shown('registry.example', 80)).toBe('registry.example:80')
    expect(shown('[::1]', 80)).toBe('[::1]:80')
    expect(shown('registry.example:', 80)).toMatch(/no port/)
  })
})

describe('an invalid target is refused with a reason', () => {
  it.each([
    ['evil.com\0.allowed.com:443', /control/],
    ['allowed.com\r\nHost: evil.com:443', /control/],
    ['allowed.com\u0085:443', /control/],
    ['allowed.com :443', /white space/],
    ['allowed\u00a0.com:443', /white space/],
    ['allo\u00adwed.com:443', /invisible/],
    ['allowed.com\u202e:443', /invisible/],
    ['allowed.com@evil.com:443', /user/],
    ['user:pass@evil.com:443', /user/],
    ['https://allowed.com:443', /scheme/],
    ['allowed.com:443/path', /path/],
    ['allowed.com\\@evil.com:443', /user|path/],
    ['allowed.com#evil.com:443', /path/],
    ['*.allowed.com:443', /wildcard/],
    ['%61llowed.com:443', /percent/],
    ['[fe80::1%eth0]:80', /percent/],
    ['[fe80::1%25eth0]:80', /percent/],
    ['[::1:80', /brackets/],
    ['::1:80', /brackets/],
    ['[127.0.0.1]:80', /brackets/],
    ['[]:80', /brackets/],
    ['[::1]x:80', /brackets/],
    ['allowed.com:443:443', /one port/],
    ['allowed..com:443', /empty label/],
    ['.allowed.com:443', /empty label/],
    ['allowed.com..:443', /empty label/],
    [':443', /host/],
    ['.:443', /host/],
    ['', /host/],
    ['256.0.0.1:80', /number/],
    ['1.2.3.4.5:80', /number/],
    ['4294967296:80', /number/],
    ['0x:80', /number/],
    ['089.0.0.1:80', /number/],
    ['allowed.com.0x7f:80', /number/],
    ['allowed.123:80', /number/],
    ['allowed,com:80', /character/],
    ['-allowed.com:80', /character/],
    ['allowed.com', /port/],
    ['allowed.com:', /port/],
    ['allowed.com:0', /port/],
    ['allowed.com:65536', /port/],
    ['allowed.com:99999999999999999999', /port/],
    ['allowed.com:+443', /port/],
    ['allowed.com:0443', /port/],
    ['allowed.com:4e2', /port/],
    ['allowed.com:４４３', /port/],
    [`${'a'.repeat(64)}.com:443`, /too long/],
    [`${'a.'.repeat(127)}com:443`, /too long/],
    [`${'a'.repeat(5_000)}:443`, /longer/],
  ])('refuses %j with a reason', (text, reason) => expect(shown(text)).toMatch(reason))

  it('a look-alike name stays a different name', () => {
    expect(shown('аllowed.com:443')).toBe('xn--llowed-2nf.com:443')
  })
})

describe('the decision', () => {
  const listed = ['registry.example:443', '10.0.0.5:8080', '[2001:db8::5]:443', 'xn--mnchen-3ya.example:443']
  const allow = readAllowList(listed)
  const allows = (text: string) => {
    const read = readTarget(text)
    return 'host' in read && allow.has(read)
  }

  const numberForms = fc.constantFrom(
    (octets: number[]) => octets.join('.'),
    (octets: number[]) => octets.map((octet) => `0x${octet.toString(16)}`).join('.'),
    (octets: number[]) => octets.map((octet) => `0${octet.toString(8)}`).join('.'),
    (octets: number[]) => String(Buffer.from(octets).readUInt32BE()),
    (octets: number[]) => `0x${Buffer.from(octets).toString('hex')}`,
    (octets: number[]) => `${octets[0]}.${Buffer.from([0, ...octets.slice(1)]).readUInt32BE()}`,
    (octets: number[]) => `${octets[0]}.${octets[1]}.${Buffer.from(octets.slice(2)).readUInt16BE()}`,
    (octets: number[]) => `[::ffff:${octets.join('.')}]`,
    (octets: number[]) => `[0:0::ffff:${Buffer.from(octets).toString('hex').replace(/^..../, '$&:')}]`,
  )
  const octet = fc.integer({ min: 0, max: 255 })
  const cased = (text: string) =>
    fc
      .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
      .map((upper) => [...text].map((letter, at) => (upper[at] ? letter.toUpperCase() : letter)).join(''))

  it('every spelling of a listed name is allowed', () => {
    fc.assert(
      fc.property(cased('registry.example'), fc.constantFrom('', '.'), (name, dot) => {
        expect(allows(`${name}${dot}:443`)).toBe(true)
        expect(allows(`${name}${dot}:444`)).toBe(false)
      }),
    )
  })

  it('every spelling of a listed address is allowed', () => {
    const octets = fc.oneof(fc.constant([10, 0, 0, 5]), fc.tuple(octet, octet, octet, octet))
    fc.assert(
      fc.property(octets, numberForms, fc.constantFrom(8080, 80), (bytes, spell, port) => {
        expect(shown(`${spell([...bytes])}:${port}`)).toBe(`${bytes.join('.')}:${port}`)
        expect(allows(`${spell([...bytes])}:${port}`)).toBe(allows(`${bytes.join('.')}:${port}`))
      }),
    )
  })

  it('no text ever throws or matches a target that is not listed', () => {
    const near = fc
      .tuple(fc.constantFrom(...listed), fc.nat(40), fc.string({ unit: 'binary', maxLength: 3 }))
      .map(([entry, at, more]) => entry.slice(0, at) + more + entry.slice(at))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string(), near), (text) => {
        const canonical = shown(text)
        expect(allows(text)).toBe(listed.includes(canonical))
        if (!canonical.startsWith('refused')) expect(shown(canonical)).toBe(canonical)
      }),
      { numRuns: 3_000 },
    )
  })
})
