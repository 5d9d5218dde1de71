import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Member } from '../../src/member.ts'
import { TarReader } from '../../src/tar/reader.ts'
import { endOfTar, paxBody, paxMember, rawMember, tarOf, withChecksum } from '../fixtures/tar-bytes.ts'

interface ReadMember extends Member {
  readonly content: string
}

/** Reads a tar in chunks of a given size; holes become zeros. */
function readTar(bytes: Uint8Array, chunkBytes = bytes.length || 1): ReadMember[] {
  const reader = new TarReader()
  const members: { member: Member; content: Buffer }[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    reader.push(bytes.subarray(at, at + chunkBytes))
    for (let piece = reader.next(); piece !== undefined; piece = reader.next()) {
      if (piece.kind === 'member')
        members.push({ member: piece.member, content: Buffer.alloc(piece.member.size) })
      else if (piece.kind === 'data') piece.bytes.copy(members.at(-1)!.content, piece.at)
    }
  }
  reader.finish()
  return members.map(({ member, content }) => ({ ...member, content: content.toString('latin1') }))
}

const invalid = expect.objectContaining({ code: 'archive_invalid' })
const refused = expect.objectContaining({ code: 'archive_refused' })
const names = (bytes: Uint8Array) => readTar(bytes).map(({ name }) => name)

describe('a tar is read', () => {
  it('reads a tar member by member', () =>
    expect(
      readTar(
        tarOf(
          { name: 'dir/', type: '5', mode: 0o755 },
          { name: 'dir/file', content: 'hello', mtime: 1_700_000_000 },
          { name: 'link', type: '2', target: 'dir/file' },
          { name: 'same', type: '1', target: 'dir/file' },
          { name: 'pipe', type: '6' },
          { name: 'tty', type: '3' },
        ),
      ),
    ).toMatchObject([
      { name: 'dir/', kind: 'directory', mode: 0o755 },
      { name: 'dir/file', kind: 'file', size: 5, content: 'hello', mtime: 1_700_000_000 },
      { name: 'link', kind: 'symlink', target: 'dir/file' },
      { name: 'same', kind: 'hardlink', target: 'dir/file' },
      { name: 'pipe', kind: 'fifo' },
      { name: 'tty', kind: 'device' },
    ]))

  it('reads the same members from chunks of any size', () => {
    const bytes = tarOf(
      paxMember({ path: 'ü'.repeat(90), mtime: '1.5' }),
      { name: 'x', content: 'a'.repeat(700) },
      { name: 'y', content: 'b'.repeat(512) },
      { name: 'z' },
    )
    const whole = readTar(bytes)
    expect(whole).toHaveLength(3)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), (size) => {
        expect(readTar(bytes, size)).toEqual(whole)
      }),
      { numRuns: 60 },
    )
  })

  it('reads GNU long names', () => {
    const long = `${'n'.repeat(120)}/${'m'.repeat(80)}`
    expect(
      readTar(
        tarOf(
          { name: '././@LongLink', type: 'L', content: `${long}\0` },
          { name: '././@LongLink', type: 'K', content: `${long}/target\0` },
          { name: 'n', type: '2', target: 'short' },
        ),
      ),
    ).toMatchObject([{ name: long, target: `${long}/target` }])
  })

  it('reads the ustar prefix, and ignores that field in other formats', () => {
    expect(names(tarOf({ name: 'file', prefix: 'some/dir' }))).toEqual(['some/dir/file'])
    expect(names(tarOf({ name: 'file', prefix: 'some/dir', magic: 'ustar  \0' }))).toEqual(['file'])
    expect(names(tarOf({ name: 'file', prefix: 'some/dir', magic: '' }))).toEqual(['file'])
  })

  it('reads numbers in base 256', () => {
    const size = Buffer.alloc(12)
    size[0] = 0x80
    size[11] = 3
    expect(readTar(tarOf({ name: 'a', size, content: 'abc' }))).toMatchObject([{ size: 3, content: 'abc' }])
    const huge = Buffer.alloc(12, 0xff)
    huge[0] = 0x80
    expect(() => readTar(tarOf({ name: 'a', size: huge }))).toThrow(invalid)
    expect(() => readTar(tarOf({ name: 'a', size: Buffer.alloc(12, 0xff) }))).toThrow(invalid)
  })

  it('reads names that are not UTF-8', () => {
    const name = Buffer.from([0x61, 0xff, 0x62])
    expect(names(tarOf({ name }))).toEqual(['a\udcffb'])
    expect(names(tarOf(paxMember({ path: name }), { name: 'x' }))).toEqual(['a\udcffb'])
  })

  it('reads PAX records whose lengths count bytes', () => {
    expect(
      readTar(tarOf(paxMember({ comment: 'ä€𝄞', path: 'naïve/ß', mtime: '12.000001' }), { name: 'x' })),
    ).toMatchObject([{ name: 'naïve/ß', mtime: 12.000001 }])
    const characters = Buffer.from('12 path=ääää\n')
    expect(() => readTar(tarOf({ name: 'x', type: 'x', content: characters }, { name: 'x' }))).toThrow(
      invalid,
    )
  })

  it('reads size and link target from PAX records', () => {
    const large = paxMember({ size: '3', linkpath: 'unused' })
    expect(readTar(tarOf(large, { name: 'a', size: 0, content: 'abc' }))).toMatchObject([{ content: 'abc' }])
    expect(readTar(tarOf(paxMember({ linkpath: 'far' }), { name: 'a', type: '2' }))).toMatchObject([
      { target: 'far' },
    ])
  })

  it('applies PAX records to one member only', () =>
    expect(names(tarOf(paxMember({ path: 'first' }), { name: 'a' }, { name: 'b' }))).toEqual(['first', 'b']))

  it('stops reading after two zero blocks', () =>
    expect(names(Buffer.concat([tarOf({ name: 'a' }), rawMember({ name: 'b' })]))).toEqual(['a']))

  it('accepts the global comment of git archive', () =>
    expect(names(tarOf(paxMember({ comment: 'f00' }, 'g'), { name: 'a' }))).toEqual(['a']))

  it('ignores binary extended attributes', () =>
    expect(
      names(
        tarOf(paxMember({ 'SCHILY.xattr.security.capability': Buffer.from([1, 0, 0, 2]) }), { name: 'a' }),
      ),
    ).toEqual(['a']))

  it('reads sparse files in the formats PAX 1.0 and old GNU', () => {
    const map = Buffer.alloc(512)
    map.write('2\n4\n3\n20\n0\n')
    const pax = paxMember({
      'GNU.sparse.major': '1',
      'GNU.sparse.minor': '0',
      'GNU.sparse.name': 'real',
      'GNU.sparse.realsize': '20',
    })
    const content = Buffer.concat([map, Buffer.from('abc')])
    const expected = { size: 20, content: `${'\0'.repeat(4)}abc${'\0'.repeat(13)}` }
    expect(readTar(tarOf(pax, { name: 'x', content }))).toMatchObject([{ name: 'real', ...expected }])
    const old = rawMember({ name: 'old', type: 'S', content: 'abc', magic: 'ustar  \0' })
    old.write('00000000004\x0000000000003\x00', 386, 'latin1')
    old.write('00000000024\x00', 483, 'latin1')
    withChecksum(old.subarray(0, 512))
    expect(readTar(tarOf(old))).toMatchObject([{ name: 'old', ...expected }])
  })
})

describe('a tar is refused', () => {
  it.each(['path', 'linkpath', 'size', 'mtime', 'GNU.sparse.name'])('refuses a global PAX record %s', (key) =>
    expect(() => readTar(tarOf(paxMember({ [key]: '1' }, 'g'), { name: 'a' }))).toThrow(refused),
  )

  it('refuses a NUL in a PAX record', () => {
    expect(() => readTar(tarOf(paxMember({ path: 'safe\0/../../evil' }), { name: 'a' }))).toThrow(refused)
    expect(() => readTar(tarOf(paxMember({ comment: 'a\0b' }), { name: 'a' }))).toThrow(refused)
  })

  it('refuses a member of unknown type', () =>
    expect(() => readTar(tarOf({ name: 'vol', type: 'V' }))).toThrow(
      expect.objectContaining({
        code: 'archive_refused',
        message: expect.stringMatching(/"vol" .* kind "V"/),
      }),
    ))

  it.each(['1', '2', '5', '6'])('refuses content of a member of type %s', (type) =>
    expect(() => readTar(tarOf({ name: 'a', type, content: 'x', target: 'b' }))).toThrow(refused),
  )

  it.each([
    { 'GNU.sparse.map': '0,1', 'GNU.sparse.size': '1' },
    { 'GNU.sparse.major': '0', 'GNU.sparse.minor': '1' },
    { 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0' },
  ])('refuses a sparse file of another version: %j', (records) =>
    expect(() => readTar(tarOf(paxMember(records), { name: 'a' }))).toThrow(refused),
  )

  it.each(['1\n10\n20\n', '2\n5\n1\n0\n1\n', '1\n0\n4\n', '9999999\n', '1\n-4\n3\n', 'x', '1\n'])(
    'refuses the sparse map %j',
    (text) => {
      const map = Buffer.alloc(512)
      map.write(text)
      const pax = paxMember({
        'GNU.sparse.major': '1',
        'GNU.sparse.minor': '0',
        'GNU.sparse.realsize': '20',
      })
      const content = Buffer.concat([map, Buffer.from('abc')])
      expect(() => readTar(tarOf(pax, { name: 'a', content }))).toThrow(refused)
    },
  )
})

describe('a tar is invalid', () => {
  it('rejects a sparse file of a negative size', () => {
    const old = rawMember({ name: 'old', type: 'S', magic: 'ustar  \0' })
    old.fill(0xff, 483, 495)
    expect(() => readTar(tarOf(withChecksum(old)))).toThrow(invalid)
  })

  it('rejects a wrong checksum', () => {
    const bytes = tarOf({ name: 'a' })
    bytes[0] = 0x62
    expect(() => readTar(bytes)).toThrow(invalid)
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['no end', rawMember({ name: 'a' })],
    ['a text', Buffer.from('hello'.repeat(500))],
    ['a lone empty block in the middle', Buffer.concat([Buffer.alloc(512), tarOf({ name: 'a' })])],
    ['a PAX header for nothing', tarOf(paxMember({ path: 'a' }))],
    [
      'two PAX headers for one member',
      tarOf(paxMember({ path: 'a' }), paxMember({ path: 'b' }), { name: 'c' }),
    ],
    ['a huge PAX header', tarOf({ name: 'a', type: 'x', size: 2 ** 21 })],
    ['a PAX record without a key', tarOf({ name: 'a', type: 'x', content: '6 =ab\n' }, { name: 'c' })],
    ['a PAX record that is too long', tarOf({ name: 'a', type: 'x', content: '99 path=b\n' }, { name: 'c' })],
    ['a PAX size that is none', tarOf(paxMember({ size: '-1' }), { name: 'c' })],
    ['a PAX time that is none', tarOf(paxMember({ mtime: 'Infinity' }), { name: 'c' })],
  ])('rejects %s', (_, bytes) => expect(() => readTar(bytes)).toThrow(invalid))

  const whole = Buffer.concat([
    tarOf(
      { name: 'dir/', type: '5' },
      paxMember({ path: 'dir/naïve', mtime: '1.5' }),
      { name: 'x', content: 'a'.repeat(1_300) },
      { name: '././@LongLink', type: 'L', content: `${'long/'.repeat(30)}x\0` },
      { name: 'y', content: 'b' },
      { name: 'l', type: '2', target: 'x' },
    ),
    endOfTar,
  ])
  const end = whole.length - 2 * endOfTar.length

  it('rejects a tar truncated at any block', () => {
    for (let at = 0; at <= end; at += 512) expect(() => readTar(whole.subarray(0, at), 512)).toThrow(invalid)
    expect(readTar(whole.subarray(0, end + 512))).toHaveLength(4)
  })

  it('rejects a tar truncated at any byte', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: end }), fc.integer({ min: 1, max: 2_000 }), (at, size) => {
        expect(() => readTar(whole.subarray(0, at), size)).toThrow(invalid)
      }),
    ))

  it('a changed byte gives an error or a valid tar, never a crash', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: end - 1 }), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const damaged = Buffer.from(whole)
        damaged[at] = byte
        try {
          readTar(damaged)
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^archive_(invalid|refused)$/) })
        }
      }),
      { numRuns: 500 },
    ))

  it('random PAX records give an error or a valid tar, never a crash', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.string({ maxLength: 5 }), (noise, key) => {
        const content = Buffer.concat([paxBody({ path: 'fine' }), Buffer.from(key), noise])
        try {
          readTar(tarOf({ name: 'a', type: 'x', content }, { name: 'b' }))
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^archive_(invalid|refused)$/) })
        }
      }),
    ))
})
