import { execFileSync } from 'node:child_process'
import { lstatSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ArchiveInput, fileByteSource } from '../src/byte-source.ts'
import { pack } from '../src/pack.ts'
import { type UnpackOptions, unpack } from '../src/unpack.ts'
import { endOfTar, paxMember, type RawMember, rawMember, tarOf, withChecksum } from './fixtures/tar-bytes.ts'
import { openDescriptors, type TestDirectory, testDirectories } from './fixtures/test-directory.ts'
import { treeOf } from './fixtures/tree.ts'

const newTestDirectory = testDirectories()
const foreign: UnpackOptions = { scheme: 'sniff', special: 'refuse', links: 'inside' }
const own: UnpackOptions = { scheme: 'sniff', special: 'leave-out', links: 'any' }

async function unpacked(
  archive: ArchiveInput,
  options: Partial<UnpackOptions> = {},
  here: TestDirectory = newTestDirectory(),
) {
  const { handle, path } = here.directory('into')
  const before = openDescriptors()
  try {
    return { path, result: await unpack(handle, archive, { ...foreign, ...options }) }
  } finally {
    expect(openDescriptors()).toBe(before)
  }
}

const refused = { code: 'archive_refused' }
const invalid = { code: 'archive_invalid' }
const tooLarge = { code: 'archive_too_large' }

describe('an archive is unpacked', () => {
  it('unpacks every kind of member with its attributes', async () => {
    const { path, result } = await unpacked(
      tarOf(
        { name: './', type: '5', mode: 0o700, mtime: 5 },
        { name: 'dir/sub/file', content: 'hello', mode: 0o640, mtime: 1_000_000_000 },
        { name: 'dir/', type: '5', mode: 0o711, mtime: 1_000_000_001 },
        { name: 'dir/link', type: '2', target: 'sub/file' },
        { name: 'same', type: '1', target: 'dir/sub/file' },
      ),
    )
    expect(result).toEqual({
      files: 1,
      directories: 2,
      links: 2,
      bytes: 5,
      leftOut: [],
      leftOutCount: 0,
      root: { mode: 0o700, mtime: 5 },
    })
    const lines = treeOf(path)
    expect(lines).toContainEqual(expect.stringMatching(/^"dir" d 711 1000000001000000/))
    expect(lines).toContainEqual(expect.stringMatching(/^"dir\/sub" d 755 /))
    expect(lines).toContainEqual(expect.stringMatching(/^"dir\/sub\/file" f 640 1000000000000000 5 /))
    expect(lines).toContainEqual(expect.stringMatching(/^"dir\/link" l {2}0 sub\/file/))
    expect(lines).toContainEqual(expect.stringMatching(/^"same" f .* = dir\/sub\/file$/))
  })

  const tree = tarOf({ name: 'a/b', content: 'x'.repeat(300_000) }, { name: 'c', content: 'y' })
  it.each([
    ['bytes', tree],
    ['gzip', gzipSync(tree)],
    [
      'two gzips after each other',
      Buffer.concat([gzipSync(tree.subarray(0, 900)), gzipSync(tree.subarray(900))]),
    ],
    ['a gzip with something behind it', Buffer.concat([gzipSync(tree), Buffer.alloc(1_000)])],
    ['zstd', zstdCompressSync(tree)],
    [
      'two frames of zstd',
      Buffer.concat([zstdCompressSync(tree.subarray(0, 900)), zstdCompressSync(tree.subarray(900))]),
    ],
  ])('unpacks %s from chunks of any size', async (_, bytes) => {
    for (const size of [bytes.length, 1_000, 7]) {
      if (size === 7 && bytes.length > 100_000) continue
      const { path } = await unpacked(streamOf(bytes, size))
      expect(readFileSync(`${path}/a/b`, 'utf8')).toBe('x'.repeat(300_000))
      expect(readFileSync(`${path}/c`, 'utf8')).toBe('y')
    }
  })

  it('unpacks from a file and closes it', async () => {
    const here = newTestDirectory()
    writeFileSync(here.at('t.tar'), Buffer.concat([tree, Buffer.alloc(3_000_000)]))
    const before = openDescriptors()
    const pull = fileByteSource(openSync(here.at('t.tar'), 'r'))
    const { handle } = here.directory('files')
    await unpack(handle, pull, foreign)
    expect(openDescriptors()).toBe(before + 1)
  })

  it('unpacks directly from a running pack', async () => {
    const here = newTestDirectory()
    here.sh(
      'mkdir tree && head -c 3000000 /dev/urandom > tree/large && for i in $(seq 200); do echo $i > tree/$i; done',
    )
    const { path } = await unpacked(pack(here.handle('tree')), own, here)
    here.sh(`diff -r tree ${path}`)
  })

  it('gives everything to the requested owner', async () => {
    if (process.geteuid?.() !== 0) return
    const archive = tarOf(
      { name: 'd/f', content: 'x', mode: 0o755 },
      { name: 'e/', type: '5' },
      { name: 'l', type: '2', target: 'd' },
    )
    const { path } = await unpacked(archive, { owner: { uid: 12_345, gid: 23_456 } })
    for (const name of ['d', 'd/f', 'e', 'l'])
      expect(lstatSync(`${path}/${name}`)).toMatchObject({ uid: 12_345, gid: 23_456 })
    expect(lstatSync(`${path}/d/f`).mode & 0o7777).toBe(0o755)
  })

  it('reports omitted members, the first thousand by name', async () => {
    const members: RawMember[] = Array.from({ length: 1_200 }, (_, index) => ({
      name: `pipe-${index}`,
      type: '6',
    }))
    const { result } = await unpacked(tarOf(...members, { name: 's', mode: 0o4755, content: 'x' }), own)
    expect(result).toMatchObject({ files: 1, leftOutCount: 1_201 })
    expect(result.leftOut).toHaveLength(1_000)
    expect(result.leftOut[0]).toEqual({ path: 'pipe-0', kind: 'fifo' })
  })

  it('restores times of any age', async () => {
    const { path } = await unpacked(
      tarOf(paxMember({ mtime: '-3.5' }), { name: 'old' }, paxMember({ mtime: '99999999999999999999' }), {
        name: 'new',
      }),
    )
    expect(lstatSync(`${path}/old`).mtimeMs).toBe(-3_500)
    expect(lstatSync(`${path}/new`).mtimeMs).toBeGreaterThan(Date.now())
  })

  it('unpacks links that lead outside only if that is allowed', async () => {
    const archive = tarOf({ name: 'python', type: '2', target: '/usr/bin/python3' })
    const { path } = await unpacked(archive, own)
    expect(readlinkSync(`${path}/python`)).toBe('/usr/bin/python3')
    await expect(unpacked(archive)).rejects.toMatchObject(refused)
  })
})

describe('an archive is refused as a whole', () => {
  const cases: readonly (readonly [string, readonly (RawMember | Buffer)[]])[] = [
    ['an absolute name', [{ name: '/tmp/evil' }]],
    ['a name that leads up', [{ name: 'a/../../evil' }]],
    ['an absolute name in PAX', [paxMember({ path: '/tmp/evil' }), { name: 'fine' }]],
    ['a name that leads up in PAX', [paxMember({ path: '../evil' }), { name: 'fine' }]],
    ['a name that leads up by GNU', [{ name: 'x', type: 'L', content: '../evil\0' }, { name: 'fine' }]],
    ['a global path', [paxMember({ path: '../evil' }, 'g'), { name: 'fine' }]],
    ['a NUL in a path', [paxMember({ path: 'fine\0../evil' }), { name: 'fine' }]],
    ['a device', [{ name: 'null', type: '3' }]],
    ['a FIFO', [{ name: 'pipe', type: '6' }]],
    ['a link that leads out', [{ name: 'l', type: '2', target: '../..' }]],
    ['a member under a link', [{ name: 'l', type: '2', target: '.' }, { name: 'l/x' }]],
    ['a link over a member', [{ name: 'l/x' }, { name: 'l', type: '2', target: '.' }]],
    ['a member under a file', [{ name: 'f' }, { name: 'f/x' }]],
    ['a file over a member', [{ name: 'f/x' }, { name: 'f' }]],
    ['a hard link out', [{ name: 'h', type: '1', target: '../../etc/passwd' }]],
    [
      'a hard link to a link',
      [
        { name: 'l', type: '2', target: 'x' },
        { name: 'h', type: '1', target: 'l' },
      ],
    ],
    ['a name twice', [{ name: 'a' }, { name: './a' }]],
    ['a root that is a file', [{ name: './', type: '2', target: 'x' }]],
  ]
  it.each(cases)('refuses the whole archive for %s, whatever is before and after it', async (_, members) => {
    const before = { name: 'before', content: 'x' }
    await expect(unpacked(tarOf(before, ...members, { name: 'after' }))).rejects.toMatchObject(refused)
    await expect(unpacked(gzipSync(tarOf(before, ...members)))).rejects.toMatchObject(refused)
  })

  it('python tarfile refuses the same archives', async () => {
    const here = newTestDirectory()
    here.python(`
import tarfile, io
def make(path, *members):
    with tarfile.open(path, 'w', format=tarfile.PAX_FORMAT) as tar:
        for name, kind, target in members:
            info = tarfile.TarInfo(name); info.type = kind; info.linkname = target
            tar.addfile(info, io.BytesIO(b''))
make('1.tar', ('link', tarfile.SYMTYPE, '/tmp'), ('link/evil', tarfile.REGTYPE, ''))
make('2.tar', ('a', tarfile.SYMTYPE, '.'), ('b', tarfile.SYMTYPE, 'a/..'))
make('3.tar', ('ä' * 200 + '/../../x', tarfile.REGTYPE, ''))
make('4.tar', ('h', tarfile.LNKTYPE, '/etc/passwd'))
make('5.tar', ('dev', tarfile.CHRTYPE, ''))
`)
    for (const number of [1, 2, 3, 4, 5]) {
      const { handle } = here.directory(`into-${number}`)
      const archive = readFileSync(here.at(`${number}.tar`))
      await expect(unpack(handle, archive, foreign)).rejects.toMatchObject(refused)
    }
  })

  it('writes nothing outside the target directory', async () => {
    const here = newTestDirectory()
    const { handle } = here.directory('into')
    const archive = tarOf(
      { name: 'l', type: '2', target: here.at('outside') },
      { name: 'l/x', content: 'evil' },
    )
    await expect(unpack(handle, archive, own)).rejects.toMatchObject(refused)
    expect(readdirSync(here.path)).toEqual(['into'])
  })
})

describe('an archive is invalid', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('hello world'.repeat(200))],
    ['a damaged gzip', Buffer.concat([gzipSync(tarOf({ name: 'a' })).subarray(0, 20), Buffer.alloc(200, 7)])],
    ['a gzip that is cut off', gzipSync(tarOf({ name: 'a', content: 'x'.repeat(5_000) })).subarray(0, -9)],
    [
      'a zstd that is cut off',
      zstdCompressSync(tarOf({ name: 'a', content: 'x'.repeat(5_000) })).subarray(0, -3),
    ],
    [
      'a zstd with something else behind it',
      Buffer.concat([zstdCompressSync(tarOf({ name: 'a' })), Buffer.from('abcdefgh')]),
    ],
  ])('rejects an archive that is %s', async (_, bytes) => {
    await expect(unpacked(bytes)).rejects.toMatchObject(invalid)
    await expect(unpacked(streamOf(bytes, 100))).rejects.toMatchObject(invalid)
  })

  it('rejects a wrong gzip checksum', async () => {
    const bytes = gzipSync(tarOf({ name: 'a' }))
    bytes[bytes.length - 8]! ^= 1
    await expect(unpacked(bytes)).rejects.toMatchObject(invalid)
  })

  it('rejects a zip that is declared as a tar', async () => {
    const here = newTestDirectory()
    here.python("import zipfile; zipfile.ZipFile('a.zip', 'w').writestr('a', 'x' * 2000)")
    await expect(unpacked(readFileSync(here.at('a.zip')))).rejects.toMatchObject(invalid)
  })

  it('rejects an archive truncated anywhere, compressed or not', async () => {
    const whole = tarOf(
      { name: 'd/', type: '5' },
      paxMember({ path: 'd/ß' }),
      { name: 'f', content: 'x'.repeat(1_500) },
      { name: 'l', type: '2', target: 'd' },
    )
    const plain = whole.subarray(0, -1_024)
    const forms = [plain, gzipSync(whole), zstdCompressSync(whole)]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...forms),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (bytes, part) => {
          const cut = bytes.subarray(0, Math.floor(part * (bytes.length - 1)))
          await expect(unpacked(cut)).rejects.toMatchObject(invalid)
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('a limit holds', () => {
  it('stops gzip bombs, also in archives of our own', async () => {
    const here = newTestDirectory()
    here.python(`
import gzip, tarfile, io
with tarfile.open('bomb.tar.gz', 'w:gz', compresslevel=9) as tar:
    info = tarfile.TarInfo('zeros'); info.size = 200 * 2**20
    tar.addfile(info, open('/dev/zero', 'rb'))
`)
    const bomb = readFileSync(here.at('bomb.tar.gz'))
    expect(bomb.length).toBeLessThan(250_000)
    for (const options of [foreign, own])
      await expect(unpacked(bomb, options)).rejects.toMatchObject(tooLarge)
    await expect(unpacked(bomb, { limits: { expandedBytes: 2 ** 20 } })).rejects.toMatchObject(tooLarge)
  })

  it.each([
    ['inputBytes', { inputBytes: 1_000 }],
    ['expandedBytes', { expandedBytes: 1_000 }],
    ['members', { members: 2 }],
  ])('applies the limit of %s', async (name, limits) => {
    const archive = tarOf({ name: 'a' }, { name: 'b' }, { name: 'c' })
    for (const bytes of [archive, streamOf(archive, 600)])
      await expect(unpacked(bytes, { limits })).rejects.toMatchObject({
        code: 'archive_too_large',
        message: expect.stringContaining(name),
      })
  })

  it('stops endless headers', async () => {
    const header = paxMember({ comment: 'x'.repeat(900_000) })
    const endless = async function* () {
      for (;;) yield Buffer.concat([header, rawMember({ name: 'd/', type: '5' })])
    }
    await expect(unpacked(endless(), { limits: { expandedBytes: 20 * 2 ** 20 } })).rejects.toMatchObject(
      tooLarge,
    )
  })

  /** A file without content but a size, as PAX 1.0 and as old GNU tar write it. */
  const hollowFiles = {
    'PAX 1.0': (name: string, size: number) => {
      const map = Buffer.alloc(512)
      map.write(`1\n${size}\n0\n`)
      const pax = paxMember({
        'GNU.sparse.major': '1',
        'GNU.sparse.minor': '0',
        'GNU.sparse.name': name,
        'GNU.sparse.realsize': `${size}`,
      })
      return Buffer.concat([pax, rawMember({ name: 'x', content: map })])
    },
    'old GNU': (name: string, size: number) => {
      const header = rawMember({ name, type: 'S', magic: 'ustar  \0' })
      header.writeUInt8(0x80, 483)
      header.writeBigUInt64BE(BigInt(size), 487)
      return withChecksum(header)
    },
  }

  describe.each(Object.entries(hollowFiles))('for sparse files of the format %s', (_, hollow) => {
    it('counts a sparse file by its apparent size', async () => {
      const archive = tarOf(hollow('hollow', 1e12))
      for (const options of [foreign, own])
        await expect(unpacked(archive, options)).rejects.toMatchObject({
          code: 'archive_too_large',
          details: { limit: 'expandedBytes' },
        })
      const { path } = await unpacked(archive, { limits: { expandedBytes: 1e12 + 10_000 } })
      expect(lstatSync(`${path}/hollow`)).toMatchObject({ size: 1e12, blocks: 0 })
    })

    it('counts many sparse files together, and other members with them', async () => {
      const files = Array.from({ length: 10 }, (_, index) => hollow(`hollow-${index}`, 10_000_000))
      const limits = { expandedBytes: 100_000_000 }
      await expect(unpacked(tarOf(...files), { limits })).rejects.toMatchObject(tooLarge)
      await unpacked(tarOf(...files.slice(1)), { limits })
    })

    it('does not count holes as a compression ratio', async () => {
      const { path } = await unpacked(tarOf(hollow('hollow', 15 * 1024 ** 3)))
      expect(lstatSync(`${path}/hollow`)).toMatchObject({ size: 15 * 1024 ** 3, blocks: 0 })
    })
  })

  it('reports a full disk', async ({ skip }) => {
    const here = newTestDirectory()
    here.sh('mkdir small')
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', here.at('small')], {
        stdio: 'ignore',
      })
    } catch {
      skip('needs a file system of its own')
    }
    const handle = here.handle('small')
    try {
      for (const size of [400_000, 20_000]) {
        const archive = tarOf(
          ...Array.from({ length: 40 }, (_, index) => ({
            name: `${size}-${index}`,
            content: 'x'.repeat(size),
          })),
        )
        await expect(unpack(handle, archive, foreign)).rejects.toMatchObject({ code: 'disk_full' })
      }
    } finally {
      execFileSync('umount', ['--lazy', here.at('small')])
    }
  })
})

describe('cancelling an unpack', () => {
  it('can be cancelled while the source is silent, and releases the source', async () => {
    const cancellation = new AbortController()
    let left = false
    const stalled = new ReadableStream<Uint8Array>({
      start: (controller) =>
        controller.enqueue(rawMember({ name: 'a', size: 10_000, content: 'x'.repeat(512) })),
      cancel: () => {
        left = true
      },
    })
    setTimeout(() => cancellation.abort(), 20)
    await expect(unpacked(stalled, { signal: cancellation.signal })).rejects.toMatchObject({
      code: 'cancelled',
    })
    expect(left).toBe(true)
  })

  it.each(['tar', 'gzip', 'zstd'])('can be cancelled in the middle of an endless %s', async (form) => {
    const cancellation = new AbortController()
    const compress = { tar: (bytes: Buffer) => bytes, gzip: gzipSync, zstd: zstdCompressSync }[form]!
    const endless = async function* () {
      for (let index = 0; ; index += 1)
        yield compress(rawMember({ name: `d${index % 7}/f${index}`, content: `${index}`.repeat(3_000) }))
    }
    setTimeout(() => cancellation.abort(), 50)
    await expect(unpacked(endless(), { signal: cancellation.signal })).rejects.toMatchObject({
      code: 'cancelled',
    })
  })

  it('rejects at once if the signal is already aborted', async () => {
    await expect(unpacked(tarOf({ name: 'a' }), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    })
  })

  it('rejects with the error of the stream', async () => {
    const broken = async function* () {
      yield rawMember({ name: 'a' })
      throw new Error('the wire broke')
    }
    await expect(unpacked(broken())).rejects.toThrow('the wire broke')
    const compressed = async function* () {
      yield gzipSync(rawMember({ name: 'a' }))
      throw new Error('the wire broke')
    }
    await expect(unpacked(compressed())).rejects.toThrow('the wire broke')
  })

  it('refuses a stream that already has a reader', async () => {
    const stream = streamOf(tarOf({ name: 'a' }), 100)
    stream.getReader()
    await expect(unpacked(stream)).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('refuses an unknown scheme', async () => {
    const scheme = 'rar' as 'tar'
    await expect(unpacked(tarOf({ name: 'a' }), { scheme })).rejects.toMatchObject({
      code: 'invalid_compression_scheme',
    })
  })

  it('refuses a stream that does not yield bytes', async () => {
    const texts = (async function* () {
      yield 'text'
    })() as unknown as AsyncIterable<Uint8Array>
    await expect(unpacked(texts)).rejects.toMatchObject({ code: 'argument_invalid' })
  })
})

function streamOf(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close()
      else controller.enqueue(bytes.slice(at, at + size))
      at += size
    },
  })
}

describe('the staging folder', () => {
  it('staged files are private while they are written', async () => {
    const here = newTestDirectory()
    const { handle, path } = here.directory('into')
    const modes: number[] = []
    const slow = async function* () {
      const bytes = Buffer.concat([
        rawMember({ name: 'd/f', mode: 0o777, content: 'x'.repeat(4_000) }),
        endOfTar,
      ])
      yield bytes.subarray(0, 1_500)
      modes.push(lstatSync(`${path}/d/f`).mode & 0o777, lstatSync(`${path}/d`).mode & 0o777)
      yield bytes.subarray(1_500)
    }
    await unpack(handle, slow(), foreign)
    expect(modes).toEqual([0o600, 0o700])
    expect(lstatSync(`${path}/d/f`).mode & 0o777).toBe(0o777)
  })
})
