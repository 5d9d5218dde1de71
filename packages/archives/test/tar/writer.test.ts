import { decodePathText } from '@vitrine/protocol/primitives'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TarReader } from '../../src/tar/reader.ts'
import { maxHeaderBytes, storedBytes, type WrittenMember, writeHeaders } from '../../src/tar/writer.ts'

function written(member: WrittenMember): Buffer {
  const out = Buffer.alloc(maxHeaderBytes(member), 0xaa)
  return out.subarray(0, writeHeaders(out, 0, member))
}

const name = fc
  .uint8Array({ minLength: 1, maxLength: 200 })
  .map((bytes) => decodePathText(bytes.map((byte) => byte || 1)))
  .map((text) => text.replace(/\/+$/, '') || 'x')

const member = fc.record({
  name,
  kind: fc.constantFrom('file', 'symlink', 'hardlink') satisfies fc.Arbitrary<WrittenMember['kind']>,
  mode: fc.integer({ min: 0, max: 0o7777 }),
  mtime: fc.integer({ min: -(2 ** 40), max: 2 ** 50 }).map((micros) => micros / 1e6),
  size: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 53 - 1 })),
  target: name,
  uid: fc.integer({ min: 0, max: 2 ** 32 - 2 }),
  gid: fc.integer({ min: 0, max: 2 ** 32 - 2 }),
})

describe('the headers of a member', () => {
  it('headers survive writing and reading, to the microsecond and the byte', () =>
    fc.assert(
      fc.property(member, (made) => {
        const { kind } = made
        const sized = { ...made, size: kind === 'file' ? made.size : 0 }
        const reader = new TarReader()
        reader.push(written(sized))
        const piece = reader.next()
        const { uid: _, gid: __, ...expected } = sized
        expect(piece).toEqual({ kind: 'member', member: expected })
      }),
      { numRuns: 300 },
    ))

  it('headers are whole blocks', () =>
    fc.assert(
      fc.property(member, (made) => {
        expect(written(made).length % 512).toBe(0)
      }),
    ))

  it('headers declare the stored size', () => {
    const plain = { name: 'a', mode: 0, mtime: 0, size: 7, target: '', uid: 0, gid: 0 }
    expect(storedBytes({ ...plain, kind: 'file' })).toBe(7)
    expect(storedBytes({ ...plain, kind: 'symlink' })).toBe(0)
  })

  it('values that fit a header need no PAX records', () =>
    expect(
      written({ name: 'a', kind: 'file', mode: 0, mtime: 5, size: 1, target: '', uid: 1, gid: 1 }),
    ).toHaveLength(512))
})
