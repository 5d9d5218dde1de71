import { describe, expect, it } from 'vitest'
import { type MakeSandbox, newSandbox } from '../kit.ts'
import { outputOf, readText } from './content.ts'

const grants = [
  { path: '~/shared', writable: true },
  { path: '~/kept' },
  { path: '~/shared/part' },
  { path: '~/shared/part/open', writable: true },
]

export function grantCases(make: MakeSandbox): void {
  describe('directories outside the workspace', () => {
    it('files outside the workspace are refused without a grant', async () => {
      const { sandbox } = await newSandbox(make)
      const home = await outputOf(sandbox, 'echo x > ~/file; cd; pwd')
      for (const path of [
        home,
        `${home}/file`,
        '/tmp',
        '/etc/hostname',
        `${sandbox.root}-other`,
        `${sandbox.root}x`,
      ])
        await expect(sandbox.files.stat(path), path).rejects.toMatchObject({ code: 'path_outside' })
    })

    it('granted directories are readable or writable, and the nearest grant decides', async () => {
      const { sandbox } = await newSandbox(make, { grants })
      const { files } = sandbox
      const home = await outputOf(sandbox, 'cd; pwd')
      expect(await files.write(`${home}/shared/a/b`, 'x', { parents: true })).toMatchObject({
        path: `${home}/shared/a/b`,
      })
      await sandbox.exec('echo k > ~/kept/file; echo p > ~/shared/part/file')
      expect(await readText(sandbox, `${home}/kept/file`)).toBe('k\n')
      expect(await readText(sandbox, `${home}/shared/part/file`)).toBe('p\n')
      await files.write(`${home}/shared/part/open/new`, 'y')
      for (const call of [
        () => files.write(`${home}/kept/file`, 'no'),
        () => files.write(`${home}/kept/file`, 'no', { append: true }),
        () => files.write(`${home}/shared/part/new`, 'no'),
        () => files.mkdir(`${home}/kept/new`),
        () => files.remove(`${home}/kept/file`),
        () => files.move(`${home}/kept/file`, 'mine'),
        () => files.move(`${home}/shared/a/b`, `${home}/kept/b`),
        () => files.chmod(`${home}/kept/file`, 0o777),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'file_read_only' })
      for (const path of [home, `${home}/other`, `${home}/kept/../other`, `${home}/keptx`])
        await expect(files.stat(path), path).rejects.toMatchObject({ code: 'path_outside' })
      expect(
        await outputOf(
          sandbox,
          'cd; echo mine >> shared/a/b; find shared kept -type f | sort; id -un; stat -c %U shared/a shared/a/b | sort -u',
        ),
      ).toMatch(/^kept\/file\nshared\/a\/b\nshared\/part\/file\nshared\/part\/open\/new\n(\w+)\n\1$/)
    })

    it('links in the workspace lead to granted directories with the rights of the grant', async () => {
      const { sandbox } = await newSandbox(make, { grants })
      const { files } = sandbox
      await sandbox.exec(
        'echo k > ~/kept/file; ln -s ~/kept kept; ln -s ~/shared shared; ln -s ~ home; ln -s ~/kept/file file; ln -s ~/shared/../kept/file winding',
      )
      for (const path of ['kept/file', 'file', 'home/kept/file', 'winding', 'shared/../kept/file'])
        expect(await readText(sandbox, path), path).toBe('k\n')
      await files.write('shared/x', 'y')
      await expect(files.write('file', 'no')).rejects.toMatchObject({ code: 'file_read_only' })
      await expect(files.write('kept/new', 'no')).rejects.toMatchObject({ code: 'file_read_only' })
      await expect(files.list('home')).rejects.toMatchObject({ code: 'path_outside' })
    })

    it('a read-only grant survives a move or removal of its parent', async () => {
      const { sandbox } = await newSandbox(make, { grants })
      const { files } = sandbox
      const home = await outputOf(sandbox, 'echo p > ~/shared/part/file; cd; pwd')
      for (const path of ['shared/part', 'shared'])
        await expect(files.remove(`${home}/${path}`, { recursive: true }), path).rejects.toMatchObject({
          code: expect.stringMatching(/^(file_read_only|argument_invalid)$/),
        })
      await expect(files.move(`${home}/shared`, 'mine')).rejects.toMatchObject({ code: expect.any(String) })
      expect(await outputOf(sandbox, 'cat ~/shared/part/file')).toBe('p')
    })

    it.each([
      ['itself', 'rm -rf ~/a; mkdir ~/a; ln -s /etc ~/a/b'],
      ['its parent', 'rm -rf ~/a; mkdir ~/c; ln -s /etc ~/c/b; ln -s c ~/a'],
    ])('a command cannot replace a granted directory with a link: %s', async (_name, planted) => {
      const { sandbox } = await newSandbox(make, { grants: [{ path: '~/a/b', writable: true }] })
      const home = await outputOf(sandbox, 'cd; pwd')
      await sandbox.exec(planted)
      await expect(sandbox.files.read(`${home}/a/b/hostname`)).rejects.toMatchObject({
        code: 'file_not_found',
      })
      await sandbox.lifecycle.shutdown()
      await expect(sandbox.lifecycle.start()).rejects.toMatchObject({ code: 'argument_invalid' })
    })
  })
}
