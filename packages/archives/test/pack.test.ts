import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { decodePathText } from '@vitrine/protocol/primitives'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { toBytes } from '../src/directories/exact-text.ts'
import { Handle } from '../src/directories/handle.ts'
import { type PackOptions, pack } from '../src/pack.ts'
import { packSource } from '../src/pack-source.ts'
import type { TarScheme } from '../src/scheme.ts'
import { closingStream } from '../src/streams/closing-stream.ts'
import { unpack } from '../src/unpack.ts'
import { openDescriptors, testDirectories } from './fixtures/test-directory.ts'
import { roundTimes, treeOf } from './fixtures/tree.ts'

const newTestDirectory = testDirectories()

async function packed(directory: Handle, options: PackOptions = {}): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of pack(directory, options)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

afterEach(() => vi.restoreAllMocks())

const hydrating = { scheme: 'sniff', special: 'leave-out', links: 'any' } as const

/** A tree with an entry of every kind. */
const everything = `
  mkdir -p tree/a/b/empty tree/forbidding tree/sticky
  cd tree
  printf hello > a/file
  ln a/file a/second
  ln a/file third
  ln -s ../file a/b/link
  ln -s /usr/bin/python3 python
  ln -s ../../outside out
  ln -s missing dangling
  : > empty
  printf x > 'new
line'
  printf x > 'back\\slash'
  printf x > C:drive
  printf x > ' spaces '
  printf x > naïve-日本
  printf x > "$(printf 'latin1-\\344')"
  printf x > $(printf 'n%.0s' $(seq 255))
  mkdir -p $(printf 'deep-directory-%s/' $(seq 30))
  printf x > $(printf 'deep-directory-%s/' $(seq 30))file
  ln $(printf 'deep-directory-%s/' $(seq 30))file zlink
  ln -s $(printf 'long-target-%s/' $(seq 30)) longlink
  head -c 700000 /dev/urandom > large
  head -c 131073 /dev/urandom > odd
  truncate -s 3M sparse
  printf middle | dd of=sparse bs=1 seek=1500000 conv=notrunc status=none
  truncate -s 1M hollow
  printf end | dd of=tail bs=1 seek=5000000 status=none
  printf begin > head; truncate -s 2M head
  touch -d '2001-02-03 04:05:06.123456' a/file
  touch -h -d '2002-02-03 04:05:06.654321' python
  touch -d '1969-12-31 23:59:58.25' old
  touch -d '2100-01-01 00:00:00.999999' future
  chmod 400 empty
  chmod 751 a/b
  chmod 1777 sticky
  printf x > forbidding/x
  touch -d '2003-02-03 04:05:06.000001' forbidding a/b/empty a
  chmod 555 forbidding
  chmod 750 .
  touch -d '2004-02-03 04:05:06.5' .
`

describe('a packed directory', () => {
  it('a packed tree unpacks to the same tree, here and with GNU tar', async () => {
    const { sh, at, handle, directory } = newTestDirectory()
    sh(everything)
    roundTimes(at('tree'))
    const before = treeOf(at('tree'))
    expect(before.length).toBeGreaterThan(60)
    const tar = await packed(handle('tree'))
    writeFileSync(at('packed.tar'), tar)

    sh('mkdir gnu && tar xpf packed.tar -C gnu')
    expect(treeOf(at('gnu'))).toEqual(before)

    const ours = directory('ours')
    const { root, ...counts } = await unpack(ours.handle, tar, hydrating)
    expect(treeOf(at('ours')).slice(1)).toEqual(before.slice(1))
    expect(root).toEqual({ mode: 0o750, mtime: expect.closeTo(1_075_781_106.5, 6) })
    expect(counts).toMatchObject({ files: 19, links: 8, leftOut: [], leftOutCount: 0 })
  })

  it('unpacks archives of GNU tar, in every format', async () => {
    const { sh, at, directory } = newTestDirectory()
    sh(everything)
    roundTimes(at('tree'))
    const before = treeOf(at('tree')).slice(1)
    for (const format of ['posix', 'gnu']) {
      sh(`tar c --format=${format} -S -f ${format}.tar -C tree .`)
      const ours = directory(format)
      await unpack(ours.handle, readFileSync(at(`${format}.tar`)), hydrating)
      const after = treeOf(ours.path).slice(1)
      if (format === 'posix') expect(after).toEqual(before)
      else expect(after.map(withoutTime)).toEqual(before.map(withoutTime))
    }
  })

  it('preserves holes of sparse files, here and with GNU tar', async () => {
    const { sh, at, handle, directory } = newTestDirectory()
    sh(
      'mkdir tree && truncate -s 200M tree/hollow && printf x | dd of=tree/hollow bs=1 seek=100M status=none conv=notrunc',
    )
    const tar = await packed(handle('tree'))
    expect(tar.length).toBeLessThan(20_000)
    writeFileSync(at('packed.tar'), tar)
    sh('mkdir gnu && tar xf packed.tar -C gnu && cmp gnu/hollow tree/hollow')
    await unpack(directory('ours').handle, tar, hydrating)
    sh('cmp ours/hollow tree/hollow')
    for (const where of ['gnu', 'ours'])
      expect(Number(sh(`du -k ${where}/hollow | cut -f1`))).toBeLessThan(100)
  })

  it('packs the same bytes each time, with names in byte order', async () => {
    const { at, sh, handle } = newTestDirectory()
    const names = ['z', 'é', '\ufb01', '\u{1d11e}', '\udcff', 'a', 'b']
    mkdirSync(at('tree'))
    mkdirSync(at('tree', 'a-b'))
    for (const name of names) writeFileSync(Buffer.from(toBytes(at('tree', name))), '')
    const tree = handle('tree')
    const tar = await packed(tree)
    expect(await packed(tree)).toEqual(tar)
    writeFileSync(at('t.tar'), tar)
    const listed = sh('tar tf t.tar --quoting-style=literal | od -An -tx1 -v').replace(/\s/g, '')
    expect(decodePathText(Buffer.from(listed, 'hex')).trim().split('\n')).toEqual([
      './',
      'a',
      'a-b/',
      'b',
      'z',
      'é',
      '\ufb01',
      '\u{1d11e}',
      '\udcff',
    ])
  })

  it('omits sockets, FIFOs and skipped entries', async () => {
    const { sh, at, python, handle, directory } = newTestDirectory()
    sh(
      'mkdir -p tree/skipped/below tree/kept && mkfifo tree/pipe && : > tree/skipped/below/x && : > tree/kept/y',
    )
    python("import socket; socket.socket(socket.AF_UNIX).bind('tree/socket')")
    const left: string[][] = []
    const tar = await packed(handle('tree'), {
      skip: (path) => path === 'skipped',
      onLeftOut: (path, what) => left.push([path, what]),
    })
    expect(left).toEqual([
      ['pipe', 'fifo'],
      ['socket', 'socket'],
    ])
    await unpack(directory('ours').handle, tar, hydrating)
    expect(treeOf(at('ours')).map((line) => line.split(' ')[0])).toEqual(['"."', '"kept"', '"kept/y"'])
  })

  it.each([
    ['ENOENT', 'a removed link'],
    ['EINVAL', 'a link that was replaced by a file'],
  ])('omits a link that cannot be read because of %s: %s', async (code) => {
    const { sh, at, handle, directory } = newTestDirectory()
    sh('mkdir tree && ln -s target tree/link && : > tree/other')
    vi.spyOn(Handle.prototype, 'readLink').mockImplementation(() => {
      throw Object.assign(new Error(code), { code })
    })
    const tar = await packed(handle('tree'))
    vi.restoreAllMocks()
    await unpack(directory('ours').handle, tar, hydrating)
    expect(treeOf(at('ours')).map((line) => line.split(' ')[0])).toEqual(['"."', '"other"'])
  })

  it('fails when a link cannot be read', async () => {
    const { sh, handle } = newTestDirectory()
    sh('mkdir tree && ln -s target tree/link')
    vi.spyOn(Handle.prototype, 'readLink').mockImplementation(() => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
    })
    await expect(packed(handle('tree'))).rejects.toMatchObject({
      code: 'file_denied',
      message: 'link: permission denied.',
    })
  })

  it('packs a single entry', async () => {
    const { sh, at, handle, directory } = newTestDirectory()
    sh('mkdir -p tree/d && printf one > tree/d/one && printf two > tree/two')
    const tree = handle('tree')
    for (const [only, names] of [
      ['two', ['"."', '"two"']],
      ['d', ['"."', '"d"', '"d/one"']],
    ] as const) {
      await unpack(directory(`of-${only}`).handle, await packed(tree, { only }), hydrating)
      expect(treeOf(at(`of-${only}`)).map((line) => line.split(' ')[0])).toEqual(names)
    }
    await expect(packed(tree, { only: 'none' })).rejects.toMatchObject({ code: 'file_not_found' })
  })

  it('stays a valid tar when files change during packing, and reports them', async () => {
    const { at, directory, handle } = newTestDirectory()
    mkdirSync(at('tree'))
    for (const name of ['d-large-shrinks', 'e-large-grows'])
      writeFileSync(at('tree', name), Buffer.alloc(3_000_000, 'x'))
    writeFileSync(at('tree', 'a-first'), Buffer.alloc(600_000, 'y'))
    const changed: string[] = []
    const chunks: Buffer[] = []
    const packing = pack(handle('tree'), {
      onChanged: (path) => changed.push(path),
    })
    for await (const chunk of packing) {
      chunks.push(Buffer.from(chunk))
      if (chunks.length === 2) truncateSync(at('tree', 'd-large-shrinks'), 1_500_000)
      if (chunks.length === 8) appendFileSync(at('tree', 'e-large-grows'), 'more')
    }
    expect(changed).toEqual(['d-large-shrinks', 'e-large-grows'])
    const { handle: into, path } = directory('ours')
    await unpack(into, Buffer.concat(chunks), hydrating)
    const shrunk = readFileSync(`${path}/d-large-shrinks`)
    expect(shrunk).toHaveLength(3_000_000)
    expect(shrunk.subarray(2_500_000).every((byte) => byte === 0)).toBe(true)
    expect(readFileSync(`${path}/e-large-grows`)).toEqual(Buffer.alloc(3_000_000, 'x'))
  })

  it('packs trees deeper than the descriptor limit and longer than a path', async () => {
    const { python, handle, directory } = newTestDirectory()
    python(`
import os
os.mkdir('tree'); os.chdir('tree')
for level in range(400):
    open('file', 'w').write(str(level)); os.mkdir('directory-of-some-length'); os.chdir('directory-of-some-length')
`)
    const before = openDescriptors()
    const tar = await packed(handle('tree'))
    const ours = directory('ours')
    const { files, directories } = await unpack(ours.handle, tar, hydrating)
    expect({ files, directories }).toEqual({ files: 400, directories: 400 })
    expect(openDescriptors()).toBe(before + 2)
    expect(await packed(ours.handle)).toHaveLength(tar.length)
    python("import shutil; shutil.rmtree('tree'); shutil.rmtree('ours')")
  })

  it('yields to the event loop while packing a huge directory', async () => {
    const { python, handle } = newTestDirectory()
    python(`
import os
os.mkdir('tree')
for name in range(20000): os.mknod(f'tree/{name * 7919 % 20000:06d}-' + 'n' * (name % 50))
`)
    const names: string[] = []
    let turns = 0
    const ticking = setInterval(() => {
      turns += 1
    }, 1)
    await packed(handle('tree'), {
      skip: (path) => {
        names.push(path)
        return false
      },
    })
    clearInterval(ticking)
    expect(names).toHaveLength(20_000)
    expect(names).toEqual(names.toSorted())
    expect(turns).toBeGreaterThan(2)
  })

  it('any tree survives packing and unpacking', async () => {
    const name = fc
      .uint8Array({ minLength: 1, maxLength: 6 })
      .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0x2f || byte === 0 ? 0x61 : byte))))
      .map((bytes) => (/^\.{1,2}$/.test(bytes.toString('latin1')) ? Buffer.from('dot') : bytes))
    const node: fc.Memo<Node> = fc.memo((depth) => {
      const file: fc.Arbitrary<Node> = fc.uint8Array({ maxLength: 2_000 })
      return depth <= 1 ? file : fc.oneof(file, fc.array(fc.tuple(name, node()), { maxLength: 4 }))
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, node(3)), { maxLength: 4 }), async (content) => {
        const { at, handle, directory } = newTestDirectory()
        make(Buffer.from(at('tree')), content)
        roundTimes(at('tree'))
        const ours = directory('ours')
        await unpack(ours.handle, await packed(handle('tree')), hydrating)
        expect(treeOf(ours.path).slice(1)).toEqual(treeOf(at('tree')).slice(1))
      }),
      { numRuns: 25 },
    )
  })
})

type Node = Uint8Array | [name: Buffer, below: Node][]

function make(path: Buffer, content: Node): void {
  if (content instanceof Uint8Array) {
    writeFileSync(path, content)
    return
  }
  mkdirSync(path)
  const made = new Set<string>()
  for (const [name, below] of content) {
    if (made.has(name.toString('latin1'))) continue
    made.add(name.toString('latin1'))
    make(Buffer.concat([path, Buffer.from('/'), name]), below)
  }
}

function withoutTime(line: string): string {
  return line.replace(/^("(?:[^"\\]|\\.)*" \w+ \w*) -?\d+/, '$1')
}

function packedStream(
  directory: Handle,
  scheme: TarScheme,
  options: PackOptions = {},
): ReadableStream<Uint8Array> {
  return closingStream(packSource(directory, scheme, options), { onEnd: () => undefined })
}

describe('a stream of a packed directory', () => {
  it.each([
    ['tar', (bytes: Buffer) => bytes],
    ['tar.gz', gunzipSync],
    ['tar.zst', zstdDecompressSync],
  ] as const)('streams a directory as %s', async (scheme, expand) => {
    const { sh, handle } = newTestDirectory()
    sh('mkdir tree && head -c 1500000 /dev/urandom > tree/large && printf x > tree/small')
    const tree = handle('tree')
    const chunks: Uint8Array[] = []
    for await (const chunk of packedStream(tree, scheme)) chunks.push(chunk)
    const expected = await packed(tree)
    expect(expand(Buffer.concat(chunks)).equals(expected)).toBe(true)
  })

  it('fills the buffers of a BYOB reader', async () => {
    const { sh, handle } = newTestDirectory()
    sh('mkdir tree && head -c 1500000 /dev/urandom > tree/large && printf x > tree/small')
    const tree = handle('tree')
    const reader = packedStream(tree, 'tar').getReader({ mode: 'byob' })
    const parts: Buffer[] = []
    for (let memory = new ArrayBuffer(70_001); ; ) {
      const { done, value } = await reader.read(new Uint8Array(memory))
      if (done) break
      parts.push(Buffer.from(value))
      memory = value.buffer
    }
    expect(Buffer.concat(parts).equals(await packed(tree))).toBe(true)
  })

  it.each(['tar', 'tar.gz', 'tar.zst'] as const)(
    'closes all files when the reader of a %s cancels',
    async (scheme) => {
      const { sh, handle } = newTestDirectory()
      sh('mkdir tree && head -c 5000000 /dev/urandom > tree/large && cp tree/large tree/other')
      const tree = handle('tree')
      const before = openDescriptors()
      const reader = packedStream(tree, scheme).getReader()
      await reader.read()
      await reader.cancel()
      expect(openDescriptors()).toBe(before)
    },
  )

  it.each(['tar', 'tar.gz'] as const)('fails as cancelled when the signal of a %s aborts', async (scheme) => {
    const { sh, handle } = newTestDirectory()
    sh(
      'mkdir tree && head -c 5000000 /dev/urandom > tree/large && for i in $(seq 50); do cp tree/large tree/$i; done',
    )
    const tree = handle('tree')
    const before = openDescriptors()
    const cancellation = new AbortController()
    const reader = packedStream(tree, scheme, { signal: cancellation.signal }).getReader()
    await reader.read()
    cancellation.abort()
    const drain = async () => {
      for (;;) if ((await reader.read()).done) return
    }
    await expect(drain()).rejects.toMatchObject({ code: 'cancelled' })
    expect(openDescriptors()).toBe(before)
  })
})
