import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gnuFind, plainFind } from '../../src/watching/find-command.ts'
import { FindRecords } from '../../src/watching/find-records.ts'

const gnu = gnuFind([]).format
const plain = plainFind([], 'word').format

function read(format: typeof gnu, ...chunks: Uint8Array[]) {
  const records = new FindRecords(format)
  for (const chunk of chunks) records.add(chunk)
  return records.end()
}

const listing = Buffer.concat([
  Buffer.from('\0d 755 11 4096 1.5 2.25 2 0 0 ./ディレクトリ'),
  Buffer.from('\0f 644 12 3 1700000000.1234567890 2.5 1 7 8 ./ディレクトリ/new\nline  and spaces '),
  Buffer.from('\0l 777 13 4 1 2 1 0 0 ./ディレクトリ/'),
  Buffer.of(0xff, 0xe3, 0x81),
  Buffer.from('\0p 600 14 0 1 2 1 0 0 ./pipe\0x 0 15 4096 1 2 2 0 0 ./closed\0end'),
])

describe('a listing of find', () => {
  it('parses a listing from chunks of any size', () => {
    const whole = read(gnu, listing)
    fc.assert(
      fc.property(fc.array(fc.nat(listing.length), { maxLength: 12 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), listing.length]
        const chunks = places.slice(1).map((to, index) => listing.subarray(places[index], to))
        expect(read(gnu, ...chunks)).toEqual(whole)
      }),
      { numRuns: 300 },
    )
    expect(whole?.get('ディレクトリ')?.children?.get('new\nline  and spaces ')?.stat).toEqual({
      kind: 'file',
      ino: 12,
      born: 0,
      mode: 0o644,
      size: 3,
      modified: 1_700_000_000_123.4568,
      changed: 2_500,
      links: 1,
      owner: 7,
      group: 8,
    })
    expect([...(whole?.get('ディレクトリ')?.children?.keys() ?? [])][1]).toBe('\udcff\udce3\udc81')
    expect(whole?.get('pipe')?.stat.kind).toBe('other')
    expect(whole?.get('closed')).toMatchObject({ stat: { kind: 'directory' } })
    expect(whole?.get('closed')?.children).toBeUndefined()
  })

  it('discards a listing truncated anywhere', () => {
    for (let length = 0; length < listing.length; length += 1)
      expect(read(gnu, listing.subarray(0, length))).toBeUndefined()
    expect(read(gnu, listing, Buffer.from('more'))).toBeUndefined()
    expect(read(gnu, Buffer.from('find: unrecognized: -printf\n'))).toBeUndefined()
  })

  it('parses an empty listing', () => {
    expect(read(gnu, Buffer.from('\0end'))).toEqual(new Map())
    expect(read(plain, Buffer.from('\nword end'))).toEqual(new Map())
  })

  it('is not confused by names with line breaks when separators contain them', () => {
    const name = 'a\nwor d 81a4 644 99 1 1 1 1 0 0 b\n'
    const found = read(
      plain,
      Buffer.from(`\nword 81a4 644 12 3 17 18 1 0 0 ./${name}\nword 41ed 755 13 0 1 1 2 0 0 ./d\nword end`),
    )
    expect([...(found?.keys() ?? [])]).toEqual([name, 'd'])
    expect(found?.get('d')).toMatchObject({ stat: { kind: 'directory', mode: 0o755 }, children: new Map() })
  })
})
