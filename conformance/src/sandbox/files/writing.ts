import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { background } from '../../waiting/background.ts'
import { eventually } from '../../waiting/within.ts'
import { allEvents } from '../events.ts'
import { type MakeSandbox, newSandbox, type SandboxKitOptions, sharedSandbox } from '../kit.ts'
import { outputOf, readText, someBytes, streamOf } from './content.ts'

export function writingCases(make: MakeSandbox, { remote = false }: SandboxKitOptions): void {
  describe('writing', () => {
    const shared = sharedSandbox(make)

    it('write takes a string, bytes or a stream', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      expect(await files.write('text', 'é€\n')).toMatchObject({ path: 'text', kind: 'file', size: 6 })
      await files.write('bytes', Uint8Array.of(0, 255, 10))
      await files.write('stream', streamOf(['one ', 'two ', new Uint8Array(0), 'three']))
      await files.write('nothing', '')
      expect(await outputOf(sandbox, 'cat text stream; od -An -tx1 bytes; wc -c < nothing')).toBe(
        'é€\none two three 00 ff 0a\n0',
      )
    })

    it('write, upload and stdin take a Readable of Node and any async iterable of bytes', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      const parts = async function* () {
        yield Buffer.from('two ')
        yield Buffer.from('parts')
      }
      await files.write('readable', Readable.from([Buffer.from('read'), Buffer.from('able')]))
      await files.write('iterable', parts())
      expect((await sandbox.exec('cat', { stdin: Readable.from([Buffer.from('in')]) })).stdout).toBe('in')
      await sandbox.exec('tar cf packed.tar readable')
      const tar = await new Response(await files.read('packed.tar')).bytes()
      expect(await files.upload('out', Readable.from([tar]))).toMatchObject({ files: 1 })
      expect(await outputOf(sandbox, 'cat readable iterable out/readable')).toBe('readabletwo partsreadable')
    })

    it('write refuses a Readable that was read, destroyed, fails or yields text', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await files.write('file', 'kept')
      const read = Readable.from([Buffer.from('x')])
      for await (const _ of read);
      const destroyed = new Readable({ read: () => undefined }).destroy()
      const text = Readable.from(['text'])
      const broken = new Readable({ read: () => void broken.destroy(new Error('broke')) })
      for (const [source, code, message] of [
        [read, 'argument_invalid', 'data: expected a stream that was not read yet'],
        [destroyed, 'argument_invalid', 'data: expected a stream that was not read yet'],
        [text, 'argument_invalid', 'got string'],
        [broken, 'file_failed', 'broke'],
      ] as const)
        await expect(files.write('file', source)).rejects.toMatchObject({
          code,
          message: expect.stringContaining(message),
        })
      const caller = new AbortController()
      const silent = new Readable({ read: () => caller.abort() })
      await expect(files.write('file', silent, { signal: caller.signal })).rejects.toMatchObject({
        code: 'cancelled',
      })
      await eventually('the source to be destroyed', () => silent.destroyed)
      expect(await outputOf(sandbox, 'cat file')).toBe('kept')
    })

    it('write takes a large stream', async () => {
      const { sandbox } = await shared()
      const bytes = someBytes(5_000_000)
      const parts = [bytes.subarray(0, 1_234_567), bytes.subarray(1_234_567)]
      expect(await sandbox.files.write('large', streamOf(parts))).toMatchObject({ size: bytes.length })
      expect(await outputOf(sandbox, 'wc -c < large')).toBe('5000000')
      const back = await new Response(await sandbox.files.read('large')).arrayBuffer()
      expect(Buffer.from(back).equals(bytes)).toBe(true)
    })

    it('write appends, and creates a missing file', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await files.write('log', 'one\n', { append: true })
      await files.write('log', streamOf(['two', '\n']), { append: true })
      await files.write('log', '', { append: true })
      expect(await files.write('log', 'three\n', { append: true })).toMatchObject({ size: 14 })
      expect(await outputOf(sandbox, 'cat log')).toBe('one\ntwo\nthree')
    })

    it('write creates missing parents unless told not to', async () => {
      const { sandbox } = await shared()
      const parents = false
      for (const data of ['x', streamOf(['x'])])
        await expect(sandbox.files.write('a/b/c', data, { parents })).rejects.toMatchObject({
          code: 'file_not_found',
        })
      expect(await outputOf(sandbox, 'ls -A')).toBe('')
      await sandbox.files.write('a/b/c', 'x')
      await sandbox.files.write('a/b/d', streamOf(['y']), { parents: true })
      expect(await outputOf(sandbox, 'cat a/b/c a/b/d; stat -c %a a a/b')).toBe('xy755\n755')
    })

    it('write sets the given mode, keeps an existing one, and defaults to 644', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await files.write('new', 'x')
      await files.write('script', '#!/bin/sh\necho ran\n', { mode: 0o750 })
      expect(await outputOf(sandbox, './script; stat -c %a new script')).toBe('ran\n644\n750')
      await files.write('script', '#!/bin/sh\necho again\n')
      await files.write('new', 'y', { mode: 0o600 })
      await files.write('script', 'echo more\n', { append: true })
      expect(await outputOf(sandbox, './script; stat -c %a new script')).toBe('again\nmore\n600\n750')
      expect(await files.write('new', 'z', { append: true, mode: 0o640 })).toMatchObject({ mode: 0o640 })
    })

    it.each([0o4755, 0o2755, -1, 1.5, Number.NaN])('write refuses the mode %o', async (mode) => {
      const { sandbox } = await shared()
      await expect(sandbox.files.write('file', 'x', { mode })).rejects.toMatchObject({
        code: 'argument_invalid',
      })
      expect(await outputOf(sandbox, 'ls -A')).toBe('')
    })

    it("write creates files of the sandbox's user, which commands can edit, move and delete", async () => {
      const { sandbox } = await shared()
      await sandbox.files.write('made/by/files', 'one\n', { parents: true })
      await sandbox.files.mkdir('folder')
      const ids = await outputOf(
        sandbox,
        'stat -c "%u %g" made made/by made/by/files folder | sort -u; echo "$(id -u) $(id -g)"',
      )
      expect(new Set(ids.split('\n')).size).toBe(1)
      const { exitCode, stderr } = await sandbox.exec(
        'echo two >> made/by/files && sed -i s/one/1/ made/by/files && mv made/by/files folder/it && rm -r made && cat folder/it && rm -r folder',
      )
      expect([exitCode, stderr]).toEqual([0, ''])
    })

    it('write keeps the old file when the stream fails, is aborted, or yields no bytes', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await files.write('file', 'kept')
      const caller = new AbortController()
      const broken = () => streamOf(['half'], (controller) => controller.error(new Error('the source broke')))
      const endless = () => streamOf(['half'], () => caller.abort())
      const odd = () =>
        new ReadableStream({
          start(controller) {
            controller.enqueue('a text')
            controller.close()
          },
        })
      for (const append of [false, true]) {
        await expect(files.write('file', broken(), { append })).rejects.toMatchObject({ code: 'file_failed' })
        await expect(files.write('file', odd(), { append })).rejects.toMatchObject({
          code: 'argument_invalid',
        })
        await expect(files.write('new', broken(), { append })).rejects.toMatchObject({ code: 'file_failed' })
      }
      await expect(files.write('file', endless(), { signal: caller.signal })).rejects.toMatchObject({
        code: 'cancelled',
      })
      expect(await outputOf(sandbox, 'cat file; ls -A')).toBe('keptfile')
    })

    it('write reports an error of the stream as such, not as an error of the file', async () => {
      const { sandbox } = await shared()
      const gone = Object.assign(new Error('ENOENT: no such source'), { code: 'ENOENT' })
      await expect(
        sandbox.files.write(
          'file',
          streamOf([], (controller) => controller.error(gone)),
        ),
      ).rejects.toMatchObject({ code: 'file_failed', message: expect.stringContaining('no such source') })
      const taken = streamOf(['x'])
      taken.getReader()
      await expect(sandbox.files.write('file', taken)).rejects.toMatchObject({ code: 'argument_invalid' })
    })

    it('write does not read the stream if the path is refused', async () => {
      const { sandbox } = await shared()
      let pulled = 0
      let isCancelled = false
      const stream = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            pulled += 1
            controller.enqueue(new Uint8Array(65_536))
          },
          cancel() {
            isCancelled = true
          },
        },
        { highWaterMark: 0 },
      )
      await sandbox.exec('mkdir folder')
      await expect(sandbox.files.write('folder', stream)).rejects.toMatchObject({ code: 'file_is_directory' })
      // A client sends the first bytes before the server can refuse them; then it cancels the source.
      if (remote) await eventually('the source to be cancelled', () => isCancelled)
      else expect(pulled).toBe(0)
    })

    it('write refuses a directory, and a path that ends like one', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('mkdir folder; : > file')
      for (const [path, code] of [
        ['folder', 'file_is_directory'],
        ['folder/', 'file_is_directory'],
        ['.', 'file_is_directory'],
        ['new/', 'file_is_directory'],
        ['new/.', 'file_is_directory'],
        ['file/', 'file_not_directory'],
        ['file/new', 'file_not_directory'],
        ['missing/../new', 'file_not_found'],
      ] as const)
        await expect(sandbox.files.write(path, 'x', { parents: true }), path).rejects.toMatchObject({ code })
      expect(await outputOf(sandbox, 'ls -A')).toBe('file\nfolder')
    })

    it('a write is never visible half done', async () => {
      const { sandbox } = await shared()
      const sizes = [200_000, 300_000]
      await sandbox.files.write('file', someBytes(sizes[0]!))
      const looking = background(sandbox.exec('while [ ! -e stop ]; do wc -c < file; done | sort -u'))
      for (let round = 0; round < 40; round += 1)
        await sandbox.files.write('file', someBytes(sizes[round % 2]!))
      await sandbox.files.write('stop', '')
      const seen = (await looking).stdout.trim().split('\n').map(Number)
      expect(sizes).toEqual(expect.arrayContaining(seen))
    })

    it('a write is recorded as exactly one file event, for new and existing files', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const { files } = sandbox
      await files.write('new', 'one')
      await files.flush()
      await files.write('new', 'two')
      await files.flush()
      await files.write('new', 'three', { append: true })
      await files.flush()
      const events = await allEvents(journal, { types: ['file.*'] })
      expect(events.map(({ type, data }) => [type, data.path])).toEqual([
        ['file.created', 'new'],
        ['file.changed', 'new'],
        ['file.changed', 'new'],
      ])
      expect(await readText(sandbox, 'new')).toBe('twothree')
    })
  })
}
