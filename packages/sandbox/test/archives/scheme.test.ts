import { describe, expect, it } from 'vitest'
import { checkScheme, schemeOfBytes, schemeOfName } from '../../src/archives/scheme.ts'

describe('the scheme of an archive', () => {
  it.each([
    ['a.tar', 'tar'],
    ['a.TAR.GZ', 'tar.gz'],
    ['dir.zip/a.tgz', 'tar.gz'],
    ['a.tar.zst', 'tar.zst'],
    ['a.tzst', 'tar.zst'],
    ['a.Zip', 'zip'],
  ])('of %s is %s', (name, scheme) => expect(schemeOfName(name)).toBe(scheme))

  it.each(['a.rar', 'tar', 'a.tar.bz2', 'a.gz', ''])('is not guessed from %j', (name) =>
    expect(() => schemeOfName(name)).toThrow(
      expect.objectContaining({
        code: 'invalid_compression_scheme',
        message: expect.stringContaining(JSON.stringify(name)),
      }),
    ),
  )

  it('is one of those that are allowed', () => {
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
  ])('of a tar that begins with %j is %s', (bytes, scheme) =>
    expect(schemeOfBytes(Uint8Array.from(bytes))).toBe(scheme),
  )
})
