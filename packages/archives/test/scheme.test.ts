import { describe, expect, it } from 'vitest'
import { checkScheme, schemeOfBytes, schemeOfName } from '../src/scheme.ts'

describe('the scheme of an archive', () => {
  it.each([
    ['a.tar', 'tar'],
    ['a.TAR.GZ', 'tar.gz'],
    ['dir.zip/a.tgz', 'tar.gz'],
    ['a.tar.zst', 'tar.zst'],
    ['a.tzst', 'tar.zst'],
    ['a.Zip', 'zip'],
  ])('derives from the name %s the scheme %s', (name, scheme) => expect(schemeOfName(name)).toBe(scheme))

  it.each(['a.rar', 'tar', 'a.tar.bz2', 'a.gz', ''])('refuses to guess a scheme from %j', (name) =>
    expect(() => schemeOfName(name)).toThrow(
      expect.objectContaining({
        code: 'invalid_compression_scheme',
        message: expect.stringContaining(JSON.stringify(name)),
      }),
    ),
  )

  it('accepts only the allowed schemes', () => {
    expect(checkScheme('tar', ['tar', 'tar.gz'])).toBe('tar')
    for (const value of ['zip', undefined, 7])
      expect(() => checkScheme(value, ['tar', 'tar.gz'])).toThrow(
        expect.objectContaining({
          code: 'invalid_compression_scheme',
          message: expect.stringContaining(String(value)),
        }),
      )
  })

  it.each([
    [[0x1f, 0x8b, 8, 0], 'tar.gz'],
    [[0x28, 0xb5, 0x2f, 0xfd], 'tar.zst'],
    [[0x28, 0xb5, 0x2f], 'tar'],
    [[], 'tar'],
    [[0x50, 0x4b, 3, 4], 'tar'],
  ])('detects from the first bytes %j the scheme %s', (bytes, scheme) =>
    expect(schemeOfBytes(Uint8Array.from(bytes))).toBe(scheme),
  )
})
