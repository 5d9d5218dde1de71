import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type UnpackOptions, unpack } from '../../src/unpack.ts'
import { openDescriptors, testDirectories } from '../fixtures/test-directory.ts'
import { treeOf } from '../fixtures/tree.ts'

const newTestDirectory = testDirectories()
const foreign: UnpackOptions = { scheme: 'zip', special: 'refuse', links: 'inside' }

/** Zips that one run of Python creates from scripts; `z` is the open zip. */
function zipped<Name extends string>(scripts: Readonly<Record<Name, string>>): (name: Name) => Buffer {
  const here = newTestDirectory()
  const names = Object.keys(scripts) as Name[]
  const blocks = names.map(
    (name, index) => `
z = zipfile.ZipFile('${index}.zip', 'w', zipfile.ZIP_DEFLATED)
${scripts[name]}
z.close()
`,
  )
  here.python(`
import zipfile
def entry(name, mode=None, system=3, method=zipfile.ZIP_DEFLATED):
    info = zipfile.ZipInfo(name, (2020, 1, 2, 3, 4, 6)); info.create_system = system; info.compress_type = method
    if mode is not None: info.external_attr = mode << 16
    return info
${blocks.join('')}
`)
  const made = new Map(names.map((name, index) => [name, readFileSync(here.at(`${index}.zip`))]))
  return (name) => Buffer.from(made.get(name)!)
}

function oneZip(script: string): Buffer {
  return zipped({ one: script })('one')
}

async function unzipped(archive: Buffer, options: Partial<UnpackOptions> = {}) {
  const { handle, path } = newTestDirectory().directory('into')
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

describe('a zip is unpacked', () => {
  it('unpacks a zip with modes, links, times and directories', async () => {
    const { path, result } = await unzipped(
      oneZip(`
z.writestr(entry('dir/', 0o040711), '')
z.writestr(entry('dir/run.sh', 0o100750), 'hello')
z.writestr(entry('dir/link', 0o120777), 'run.sh')
z.writestr(entry('a/b/c', 0o100644, method=zipfile.ZIP_STORED), 'stored')
plain = entry('plain', system=0); plain.external_attr = 0x20
z.writestr(plain, 'dos')
z.writestr(entry('private', 0o600), 'without a type')
`),
    )
    expect(result).toMatchObject({ files: 4, directories: 3, links: 1, bytes: 28, root: undefined })
    expect(lstatSync(`${path}/dir`).mode & 0o777).toBe(0o711)
    expect(lstatSync(`${path}/dir/run.sh`).mode & 0o777).toBe(0o750)
    expect(lstatSync(`${path}/plain`).mode & 0o777).toBe(0o644)
    expect(lstatSync(`${path}/private`).mode & 0o777).toBe(0o600)
    expect(readlinkSync(`${path}/dir/link`)).toBe('run.sh')
    expect(readFileSync(`${path}/a/b/c`, 'utf8')).toBe('stored')
    expect(lstatSync(`${path}/dir/run.sh`).mtime.toISOString()).toBe('2020-01-02T03:04:06.000Z')
  })

  it('unpacks a zip of Info-ZIP with large files, links and Unix times', async () => {
    const here = newTestDirectory()
    here.sh(`
      mkdir -p tree/d && cd tree
      head -c 3000000 /dev/urandom > large; seq 400000 > numbers; : > empty
      printf x > d/small; ln -s d/small link; chmod 755 d/small
      printf x > naïve
      touch -d '2019-05-06 07:08:09 UTC' d/small large numbers empty naïve
      zip -qry ../made.zip .
    `)
    const { path } = await unzipped(readFileSync(here.at('made.zip')))
    here.sh(`diff -r tree ${path}`)
    const files = (tree: string) => treeOf(tree).filter((line) => line.includes('" f '))
    expect(files(path)).toEqual(files(here.at('tree')))
  })

  it('unpacks a streamed zip with data descriptors', async () => {
    const here = newTestDirectory()
    here.python(`
import zipfile, io
class Pipe(io.RawIOBase):
    def __init__(self): self.file = open('made.zip', 'wb')
    def writable(self): return True
    def write(self, data): return self.file.write(data)
with zipfile.ZipFile(Pipe(), 'w', zipfile.ZIP_DEFLATED) as z:
    for name, count in (('small', 10), ('large', 100_000)): z.writestr(name, ''.join(map(str, range(count))))
`)
    const bytes = readFileSync(here.at('made.zip'))
    expect(bytes.readUInt16LE(6) & 8).toBe(8)
    expect(bytes.readUInt32LE(18)).toBe(0)
    const { path } = await unzipped(bytes)
    expect(readFileSync(`${path}/small`, 'utf8')).toBe('0123456789')
    expect(readFileSync(`${path}/large`)).toHaveLength(488_890)
  })

  it('unpacks a zip64', async () => {
    const { path } = await unzipped(
      oneZip(`
zipfile.ZIP64_LIMIT = 10
zipfile.ZIP_FILECOUNT_LIMIT = 1
for name in ('a', 'b', 'c'): z.writestr(entry(name, 0o100644), 'x' * 100)
`),
    )
    expect(readFileSync(`${path}/c`, 'utf8')).toBe('x'.repeat(100))
  })

  it('decodes names in UTF-8, in code page 437 and in other bytes', async () => {
    const made = (system: number, utf8: boolean, name: string) => {
      const bytes = oneZip(`z.writestr(entry('NAME', 0o100644, system=${system}), 'x')`)
      for (let at = bytes.indexOf('NAME'); at >= 0; at = bytes.indexOf('NAME', at))
        bytes.write(name, at, 'latin1')
      if (utf8) {
        bytes[7]! |= 8
        bytes[bytes.indexOf('PK\x01\x02', 'latin1') + 9]! |= 8
      }
      return bytes
    }
    const nameOf = async (bytes: Buffer) => treeOf((await unzipped(bytes)).path)[1]!.split(' ')[0]
    expect(await nameOf(made(3, true, 'a\xc3\xa9b'))).toBe('"aéb"')
    expect(await nameOf(made(3, false, 'a\xc3\xa9b'))).toBe('"aéb"')
    expect(await nameOf(made(0, false, 'a\x82\xe1b'))).toBe('"aéßb"')
    expect(await nameOf(made(3, false, 'a\xff\xfeb'))).toBe('"a\\udcff\\udcfeb"')
  })

  it('unpacks an empty zip', async () => {
    expect((await unzipped(oneZip(''))).result).toMatchObject({ files: 0, directories: 0 })
  })

  it('unpacks a zip whose comment looks like its end record', async () => {
    const { result } = await unzipped(oneZip("z.writestr('a', 'x'); z.comment = b'PK\\x05\\x06' + b'x' * 30"))
    expect(result.files).toBe(1)
  })
})

describe('a zip is refused', () => {
  const scripts = {
    'a name that leads up': "z.writestr('../evil', 'x')",
    'an absolute name': "z.writestr('/tmp/evil', 'x')",
    'a backslash': "z.writestr(entry('a\\\\\\\\..\\\\\\\\evil'), 'x')",
    'a link that leads out': "z.writestr(entry('l', 0o120777), '../../etc')",
    'an absolute link': "z.writestr(entry('l', 0o120777), '/etc/passwd')",
    'a member under a link': "z.writestr(entry('l', 0o120777), 'd'); z.writestr('l/x', 'x')",
    'a link over a member': "z.writestr('l/x', 'x'); z.writestr(entry('l', 0o120777), 'd')",
    'a link without an end': "z.writestr(entry('l', 0o120777), 'd' * 5000)",
    'a FIFO': "z.writestr(entry('p', 0o010644), '')",
    'a device': "z.writestr(entry('p', 0o020644), '')",
    'a file under a file': "z.writestr('a', 'x'); z.writestr('a/b', 'x')",
    'a name twice': "z.writestr('a', 'x'); z.writestr('./a', 'x')",
    'a directory with content': "z.writestr(entry('d', 0o040755), 'x')",
    'a link named like a directory': "z.writestr(entry('d/', 0o120755), 'x')",
    bzip2: "z.writestr(entry('a', method=zipfile.ZIP_BZIP2), 'x' * 100)",
    LZMA: "z.writestr(entry('a', method=zipfile.ZIP_LZMA), 'x' * 100)",
  }
  let made: (name: keyof typeof scripts) => Buffer
  beforeAll(() => {
    made = zipped(scripts)
  })
  it.each(Object.keys(scripts) as (keyof typeof scripts)[])('refuses a zip with %s', async (name) => {
    await expect(unzipped(made(name))).rejects.toMatchObject(refused)
  })

  it('refuses an encrypted zip', async () => {
    const here = newTestDirectory()
    here.sh('echo secret > a && zip -q -P password made.zip a')
    await expect(unzipped(readFileSync(here.at('made.zip')))).rejects.toMatchObject({
      code: 'archive_refused',
      message: expect.stringContaining('encrypted'),
    })
  })
})

describe('a zip is invalid', () => {
  const scripts = {
    honest: "z.writestr('first', 'x' * 1000); z.writestr('second', 'y' * 2000)",
    small: "z.writestr('bomb', b'\\0' * 100_000)",
    large: "z.writestr('bomb', b'\\0' * 20_000_000)",
  }
  let made: (name: keyof typeof scripts) => Buffer
  beforeAll(() => {
    made = zipped(scripts)
  })
  const honest = () => made('honest')
  const central = (bytes: Buffer, index: number) => {
    let at = -1
    for (let found = 0; found <= index; found += 1) at = bytes.indexOf('PK\x01\x02', at + 1, 'latin1')
    return at
  }

  it.each([
    ['small', 10],
    ['large', 10],
    ['large', 1_000_000],
  ] as const)('rejects an entry that inflates to more than its declared size: %s, %d', async (name, size) => {
    const bytes = made(name)
    bytes.writeUInt32LE(size, 22)
    bytes.writeUInt32LE(size, central(bytes, 0) + 24)
    await expect(unzipped(bytes)).rejects.toMatchObject(invalid)
  })

  it('rejects an entry that inflates to less than its declared size', async () => {
    const bytes = honest()
    bytes.writeUInt32LE(1_001, 22)
    bytes.writeUInt32LE(1_001, central(bytes, 0) + 24)
    await expect(unzipped(bytes)).rejects.toMatchObject(invalid)
  })

  it('rejects overlapping entries', async () => {
    const bytes = honest()
    const first = bytes.readUInt32LE(central(bytes, 0) + 42)
    const second = central(bytes, 1)
    bytes.copyWithin(second + 16, central(bytes, 0) + 16, central(bytes, 0) + 28)
    bytes.writeUInt32LE(first, second + 42)
    await expect(unzipped(bytes)).rejects.toMatchObject({
      code: 'archive_invalid',
      message: expect.stringContaining('overlap'),
    })
  })

  it('rejects entries that share one content before unpacking any', async () => {
    const here = newTestDirectory()
    here.python(`
import zipfile, struct, zlib
kernel = zlib.compressobj(9, zlib.DEFLATED, -15); data = kernel.compress(b'\\0' * 10_000_000) + kernel.flush()
crc = zlib.crc32(b'\\0' * 10_000_000)
local = struct.pack('<4s5HLLLHH', b'PK\\3\\4', 20, 0, 8, 0, 33, crc, len(data), 10_000_000, 1, 0) + b'a' + data
directory = b''.join(struct.pack('<4s6H3L5H2L', b'PK\\1\\2', 20, 20, 0, 8, 0, 33, crc, len(data), 10_000_000, 1, 0, 0, 0, 0, 0, 0) + b'a' for _ in range(100))
open('made.zip', 'wb').write(local + directory + struct.pack('<4s4H2LH', b'PK\\5\\6', 0, 0, 100, 100, len(directory), len(local), 0))
`)
    await expect(
      unzipped(readFileSync(here.at('made.zip')), { limits: { ratio: 1e9 } }),
    ).rejects.toMatchObject(invalid)
    await expect(unzipped(readFileSync(here.at('made.zip')))).rejects.toMatchObject(tooLarge)
  })

  it.each([
    ['another name', (bytes: Buffer) => bytes.write('other', 30)],
    ['another method', (bytes: Buffer) => bytes.writeUInt16LE(0, 8)],
    ['another size', (bytes: Buffer) => bytes.writeUInt32LE(7, 22)],
    ['another sum', (bytes: Buffer) => bytes.writeUInt32LE(7, 14)],
    ['no header of its own', (bytes: Buffer) => bytes.write('XX', 0)],
    ['content that is damaged', (bytes: Buffer) => bytes.writeUInt32LE(0xffffffff, 36)],
    [
      'a wrong sum twice',
      (bytes: Buffer) => {
        bytes.writeUInt32LE(7, 14)
        bytes.writeUInt32LE(7, central(bytes, 0) + 16)
      },
    ],
    ['a directory that is elsewhere', (bytes: Buffer) => bytes.writeUInt32LE(1, bytes.length - 6)],
    [
      'more entries than there are',
      (bytes: Buffer) => {
        bytes.writeUInt16LE(9, bytes.length - 12)
        bytes.writeUInt16LE(9, bytes.length - 14)
      },
    ],
    ['several volumes', (bytes: Buffer) => bytes.writeUInt16LE(1, bytes.length - 18)],
  ])('rejects a zip with %s', async (_, damage) => {
    const bytes = honest()
    damage(bytes)
    await expect(unzipped(bytes)).rejects.toMatchObject(invalid)
  })

  it('rejects a zip truncated anywhere', async () => {
    const bytes = honest()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: bytes.length - 1 }), async (at) => {
        await expect(unzipped(bytes.subarray(0, at))).rejects.toMatchObject(invalid)
      }),
      { numRuns: 40 },
    )
  })

  it('a changed byte gives an error or a valid zip, never a crash', async () => {
    const bytes = honest()
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: bytes.length - 1 }),
        fc.integer({ min: 0, max: 255 }),
        async (at, byte) => {
          const damaged = Buffer.from(bytes)
          damaged[at] = byte
          await unzipped(damaged).catch((error) =>
            expect(error).toMatchObject({
              code: expect.stringMatching(/^archive_(invalid|refused|too_large)$/),
            }),
          )
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('a limit holds for a zip', () => {
  it('applies the limits to the declared sizes before unpacking', async () => {
    const bytes = oneZip("z.writestr('bomb', b'\\0' * 70_000_000)")
    await expect(unzipped(bytes)).rejects.toMatchObject(tooLarge)
    await expect(unzipped(bytes, { limits: { expandedBytes: 1_000 } })).rejects.toMatchObject(tooLarge)
  })

  it('applies the limits to the members and size of a zip', async () => {
    const bytes = oneZip("for i in range(20): z.writestr(str(i), 'x')")
    await expect(unzipped(bytes, { limits: { members: 19 } })).rejects.toMatchObject(tooLarge)
    await expect(unzipped(bytes, { limits: { inputBytes: 1_000 } })).rejects.toMatchObject(tooLarge)
  })

  it('unpacking a zip can be cancelled', async () => {
    const here = newTestDirectory()
    const { handle } = here.directory('into')
    const before = openDescriptors()
    const cancellation = new AbortController()
    const slow = async function* () {
      yield Buffer.alloc(100)
      cancellation.abort()
      yield Buffer.alloc(100)
    }
    await expect(unpack(handle, slow(), { ...foreign, signal: cancellation.signal })).rejects.toMatchObject({
      code: 'cancelled',
    })
    expect(openDescriptors()).toBe(before)
    expect(treeOf(here.at('into'))).toHaveLength(1)
  })
})
