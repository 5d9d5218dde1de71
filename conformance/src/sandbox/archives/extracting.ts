import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { outputOf, readBytes, streamOf } from '../files/content.ts'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { tarOf } from './tar-bytes.ts'
import { changesNothing } from './workspace.ts'
import { zipOf } from './zip-bytes.ts'

const tar = tarOf({ name: 'd/f', content: 'from the tar' })

export function extractingCases(make: MakeSandbox): void {
  describe('extracting', () => {
    const shared = sharedSandbox(make)

    it.each(['a.tar', 'a.tar.gz', 'a.tgz', 'A.TGZ'])(
      'extract unpacks an archive of the workspace: %s',
      async (name) => {
        const { sandbox } = await shared()
        await sandbox.exec(
          'mkdir -p src/dir to && echo hi > src/dir/f && ln -s f src/dir/l && chmod 700 src/dir/f',
        )
        const flags = name.toLowerCase().endsWith('gz') ? 'czf' : 'cf'
        await sandbox.exec(`tar ${flags} to/${name} -C src .`)
        expect(await sandbox.files.extract(`to/${name}`)).toMatchObject({ files: 1, links: 1 })
        expect(
          await outputOf(sandbox, `cat to/dir/l; stat -c %a to/dir/f; test -s to/${name} && echo kept`),
        ).toBe('hi\n700\nkept')
      },
    )

    it('extract unpacks given bytes and stores the archive at its path', async () => {
      const { sandbox } = await shared()
      const packed = gzipSync(tar)
      expect(await sandbox.files.extract('a.tgz', packed)).toMatchObject({ files: 1, bytes: 12 })
      expect((await readBytes(sandbox, 'a.tgz')).equals(packed)).toBe(true)
      await sandbox.files.mkdir('to')
      await sandbox.files.extract('to/a.tar', streamOf([tar.subarray(0, 700), tar.subarray(700)]))
      expect((await readBytes(sandbox, 'to/a.tar')).equals(tar)).toBe(true)
      expect(await outputOf(sandbox, 'cat d/f to/d/f; stat -c %u a.tgz')).toBe(
        `from the tarfrom the tar${await outputOf(sandbox, 'id -u')}`,
      )
    })

    it('extract replaces an existing archive with the given one', async () => {
      const { sandbox } = await shared()
      await sandbox.files.write('a.tar', 'the old one')
      await sandbox.files.extract('a.tar', tar)
      expect((await readBytes(sandbox, 'a.tar')).equals(tar)).toBe(true)
    })

    it('extract creates the missing directory of a given archive', async () => {
      const { sandbox } = await shared()
      await sandbox.files.extract('new/er/a.tar', tar)
      expect(await outputOf(sandbox, 'cat new/er/d/f; ls new/er')).toBe('from the tara.tar\nd')
    })

    it('extract unpacks a zip that the sandbox made, and one made by hand', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        'mkdir -p src/sub to && seq 5000 > src/sub/n && cd src && python3 -m zipfile -c ../to/a.zip sub',
      )
      expect(await sandbox.files.extract('to/a.zip')).toMatchObject({ files: 1, directories: 1 })
      expect(await sandbox.exec('cmp src/sub/n to/sub/n')).toMatchObject({ exitCode: 0 })
      const zip = zipOf(
        { name: 'run.sh', content: '#!/bin/sh\necho ran\n', mode: 0o100755, deflate: true },
        { name: 'link', content: 'run.sh', mode: 0o120777 },
        { name: 'é€/', mode: 0o040711 },
      )
      expect(await sandbox.files.extract('hand.zip', zip)).toMatchObject({
        files: 1,
        directories: 1,
        links: 1,
      })
      expect(
        await outputOf(sandbox, './link; readlink link; stat -c %a é€; test -f hand.zip && echo kept'),
      ).toBe('ran\nrun.sh\n711\nkept')
    })

    it('extract prefers the given scheme to the one in the name', async () => {
      const { sandbox } = await shared()
      await sandbox.files.extract('download', zipOf({ name: 'z', content: 'zip' }), { scheme: 'zip' })
      await sandbox.files.extract('other.zip', tar, { scheme: 'tar' })
      expect(await outputOf(sandbox, 'cat z d/f')).toBe('zipfrom the tar')
    })

    it('extract refuses a name without an archive suffix', async () => {
      const under = await shared()
      const { files } = under.sandbox
      const names = ['a.rar', 'a', 'a.tar.bz2', 'tar', 'zip', 'a.gz', '.tar/x']
      for (const name of names) await files.write(`here/${name}`, tar, { parents: true })
      await changesNothing(under, 'all of them', async () => {
        for (const name of names) {
          const scheme = { code: 'invalid_compression_scheme' }
          await expect(files.extract(`here/${name}`), name).rejects.toMatchObject(scheme)
          await expect(files.extract(`here/${name}`, tar), name).rejects.toMatchObject(scheme)
        }
      })
    })

    it('extract refuses missing files, directories, and content that does not match its name', async () => {
      const under = await shared()
      const { sandbox } = under
      const { files } = sandbox
      await sandbox.exec(
        'mkdir d.tar; mkfifo p.tar; ln -s /etc/passwd l.tar; echo text > t.tgz; echo text > z.zip',
      )
      await changesNothing(under, 'refused', async () => {
        await expect(files.extract('missing.tar')).rejects.toMatchObject({ code: 'file_not_found' })
        await expect(files.extract('d.tar')).rejects.toMatchObject({ code: 'file_is_directory' })
        await expect(files.extract('p.tar')).rejects.toMatchObject({ code: 'file_not_regular' })
        await expect(files.extract('l.tar')).rejects.toMatchObject({ code: 'path_outside' })
        await expect(files.extract('t.tgz')).rejects.toMatchObject({ code: 'archive_invalid' })
        await expect(files.extract('z.zip')).rejects.toMatchObject({ code: 'archive_invalid' })
        await expect(files.extract('d.tar', tar)).rejects.toMatchObject({
          code: expect.stringMatching(/^file_/),
        })
        await expect(files.extract('p.tar', tar)).rejects.toMatchObject({
          code: expect.stringMatching(/^file_/),
        })
      })
    })

    it('extract writes nothing if the archive contains a directory with its own name', async () => {
      const under = await shared()
      await under.sandbox.files.mkdir('here')
      const holding = tarOf({ name: 'other', content: 'x' }, { name: 'a.tar/f', content: 'x' })
      await changesNothing(under, 'a directory of its own name', async () => {
        await expect(under.sandbox.files.extract('here/a.tar', holding)).rejects.toMatchObject({
          code: expect.any(String),
        })
      })
    })

    it('extract of an archive that commands keep replacing unpacks one version, never a mixture', async () => {
      const { sandbox } = await shared()
      const large = 'x'.repeat(200_000)
      for (const label of ['one', 'two'])
        await sandbox.files.write(
          label,
          tarOf(
            { name: 'a', content: label },
            { name: 'b', content: label + large },
            { name: 'c', content: label },
          ),
        )
      await sandbox.exec('cp one a.tar')
      const swapping = await sandbox.spawn('while :; do cp two x; mv x a.tar; cp one x; mv x a.tar; done')
      for (let round = 0; round < 6; round += 1) {
        await sandbox.files.extract('a.tar')
        const seen = (await outputOf(sandbox, 'head -c 3 a b c | grep -E "^(one|two)" | sort -u')).split('\n')
        expect(seen).toHaveLength(1)
      }
      await swapping.kill()
    })
  })
}
