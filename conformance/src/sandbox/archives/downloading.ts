import type { ArchiveScheme } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { outputOf, readText } from '../files/content.ts'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { tarOf } from './tar-bytes.ts'
import { bytesOf } from './unpack-calls.ts'
import { manifestOf } from './workspace.ts'

const tree = [
  'mkdir -p tree/dir/empty tree/locked',
  'printf one > tree/a; head -c 300000 /dev/urandom > tree/dir/large; : > tree/nothing',
  'ln -s dir/large tree/link; ln tree/a tree/dir/again; chmod 750 tree/a; chmod 500 tree/locked',
  'find tree -depth -exec touch -h -d @1577934245.123456 {} +',
].join(' && ')

export function downloadingCases(make: MakeSandbox): void {
  describe('downloading and uploading', () => {
    const shared = sharedSandbox(make)

    it.each(['tar', 'tar.gz', 'tar.zst'] as const)(
      "a download as %s can be read by the sandbox's own tar, and uploads unchanged",
      async (scheme) => {
        const { sandbox } = await shared()
        await sandbox.exec(tree)
        const archive = await bytesOf(await sandbox.files.download('tree', { scheme }))
        await sandbox.files.write('archive', archive)
        const unpack =
          scheme === 'tar.zst' ? 'zstd -dqc archive | tar xpf - -C by-tar' : 'tar xpf archive -C by-tar'
        if (scheme !== 'tar.zst' || (await sandbox.exec('command -v zstd')).exitCode === 0) {
          expect(await sandbox.exec(`mkdir by-tar && ${unpack}`)).toMatchObject({ exitCode: 0, stderr: '' })
          expect((await manifestOf(sandbox, 'by-tar')).slice(1)).toEqual(
            (await manifestOf(sandbox, 'tree')).slice(1),
          )
        }
        expect(await sandbox.files.upload('back', archive)).toMatchObject({
          files: 3,
          directories: 3,
          links: 2,
          leftOut: [],
          leftOutCount: 0,
        })
        expect((await manifestOf(sandbox, 'back')).slice(1)).toEqual(
          (await manifestOf(sandbox, 'tree')).slice(1),
        )
      },
    )

    it('upload takes a tar that the sandbox made, plain or compressed, and detects the format from its bytes', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        `${tree} && tar cf plain --format=posix -C tree . && gzip -k plain && mv plain.gz packed`,
      )
      for (const name of ['plain', 'packed']) {
        const archive = await sandbox.files.read(name)
        expect(await sandbox.files.upload(`from-${name}`, archive)).toMatchObject({ files: 3, links: 2 })
        expect((await manifestOf(sandbox, `from-${name}`)).slice(1)).toEqual(
          (await manifestOf(sandbox, 'tree')).slice(1),
        )
      }
    })

    it('a download of a single file has one member with its name', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        'mkdir d && printf alone > d/f && chmod 640 d/f && printf other > d/g && ln -s f d/l',
      )
      const archive = await bytesOf(await sandbox.files.download('d/f'))
      expect(await sandbox.files.upload('to', archive)).toMatchObject({ files: 1, directories: 0, bytes: 5 })
      expect(await outputOf(sandbox, 'ls -A to; cat to/f; stat -c %a to/f')).toBe('f\nalone640')
    })

    it('upload creates its target directory, and keeps other files in an existing one', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('mkdir -p there/sub && echo kept > there/sub/kept && echo old > there/sub/f')
      const archive = tarOf(
        { name: 'sub/f', content: 'new\n', mode: 0o600 },
        { name: 'sub/more/deep', content: 'deep' },
      )
      await sandbox.files.upload('there', archive)
      await sandbox.files.upload('a/b/c', archive)
      expect(
        await outputOf(sandbox, 'cat there/sub/kept there/sub/f a/b/c/sub/more/deep; stat -c %a there/sub/f'),
      ).toBe('kept\nnew\ndeep600')
    })

    it("upload gives everything to the sandbox's user, and drops setuid and setgid bits", async () => {
      const { sandbox } = await shared()
      await sandbox.files.upload(
        'in',
        tarOf({ name: 'd/', type: '5', mode: 0o2755 }, { name: 'd/f', mode: 0o6755 }),
      )
      expect(await outputOf(sandbox, 'stat -c %a in/d in/d/f')).toBe('755\n755')
      expect(await outputOf(sandbox, 'stat -c "%u %g" in in/d in/d/f | sort -u')).toBe(
        await outputOf(sandbox, 'echo "$(id -u) $(id -g)"'),
      )
      expect(await sandbox.exec('echo more >> in/d/f && mv in/d in/e && rm -r in')).toMatchObject({
        exitCode: 0,
      })
    })

    it('a download of an empty directory uploads as an empty directory', async () => {
      const { sandbox } = await shared()
      await sandbox.files.mkdir('empty')
      const archive = await bytesOf(await sandbox.files.download('empty'))
      expect(await sandbox.files.upload('to', archive)).toMatchObject({ files: 0, directories: 0, bytes: 0 })
      expect(await outputOf(sandbox, 'ls -A to; test -d to && echo there')).toBe('there')
    })

    it.each([
      ['download', 'zip'],
      ['upload', 'zip'],
      ['download', 'tar.bz2'],
      ['upload', 'rar'],
      ['extract', '7z'],
    ])('%s refuses the scheme %s', async (call, name) => {
      const { sandbox } = await shared()
      const scheme = name as ArchiveScheme
      await sandbox.files.write('d/f', 'x', { parents: true })
      const calls: Record<string, () => Promise<unknown>> = {
        download: () => sandbox.files.download('d', { scheme }),
        upload: () => sandbox.files.upload('d', tarOf(), { scheme }),
        extract: () => sandbox.files.extract('d/a.tar', tarOf(), { scheme }),
      }
      await expect(calls[call]!()).rejects.toMatchObject({ code: 'invalid_compression_scheme' })
      expect(await outputOf(sandbox, 'find . -mindepth 1 | sort')).toBe('./d\n./d/f')
    })

    it('downloads and uploads refuse paths that are missing, special files, or outside', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('mkfifo fifo; echo x > file; ln -s /etc out')
      const { files } = sandbox
      await expect(files.download('missing')).rejects.toMatchObject({ code: 'file_not_found' })
      await expect(files.download('fifo')).rejects.toMatchObject({ code: 'file_not_regular' })
      await expect(files.download('out')).rejects.toMatchObject({ code: 'path_outside' })
      await expect(files.download('/etc')).rejects.toMatchObject({ code: 'path_outside' })
      await expect(files.upload('file', tarOf())).rejects.toMatchObject({ code: 'file_not_directory' })
      await expect(files.upload('out', tarOf())).rejects.toMatchObject({ code: 'path_outside' })
      await expect(files.upload('/etc/x', tarOf())).rejects.toMatchObject({ code: 'path_outside' })
      await expect(files.upload('../x', tarOf())).rejects.toMatchObject({ code: 'path_outside' })
      await expect(files.extract('out/a.tar', tarOf())).rejects.toMatchObject({ code: 'path_outside' })
      await expect(files.upload('x', 'text' as never)).rejects.toMatchObject({ code: 'argument_invalid' })
      expect(await readText(sandbox, 'file')).toBe('x\n')
    })
  })
}
