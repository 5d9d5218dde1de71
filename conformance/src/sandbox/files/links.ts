import { describe, expect, it } from 'vitest'
import { type MakeSandbox, sharedSandbox, type TestedSandbox } from '../kit.ts'
import { outputOf, readText } from './content.ts'

/** Every file call that follows a path to its target. */
export const followingCalls: readonly (readonly [
  name: string,
  go: (files: TestedSandbox['files'], path: string) => Promise<unknown>,
])[] = [
  ['read', (files, path) => files.read(path)],
  ['write', (files, path) => files.write(path, 'escaped')],
  ['append', (files, path) => files.write(path, 'escaped', { append: true })],
  ['write with parents', (files, path) => files.write(path, 'escaped', { parents: true })],
  ['list', (files, path) => files.list(path)],
  ['exists', (files, path) => files.exists(path)],
  ['mkdir', (files, path) => files.mkdir(path)],
  ['mkdir with parents', (files, path) => files.mkdir(`${path}/deeper`, { parents: true })],
  ['chmod', (files, path) => files.chmod(path, 0o777)],
  ['search', (files, path) => files.search(path, { name: '*' })],
]

export function linkCases(make: MakeSandbox): void {
  describe('links', () => {
    const shared = sharedSandbox(make)

    it('links inside resolve as for commands, including `..` after them', async () => {
      const { sandbox } = await shared()
      const { root } = sandbox
      await sandbox.exec(
        `mkdir -p a/b; echo up > a/x; echo top > x; ln -s a/b l; ln -s ${root}/a abs; ln -s ${root}/l/../x absup; ln -s l/../x rel; ln -s ../$(basename ${root})/x around; ln -s l ll`,
      )
      for (const path of [
        'l/../x',
        `${root}/l/../x`,
        'abs/x',
        'absup',
        'rel',
        'around',
        'll/../../x',
        `${root}/../${root.slice(root.lastIndexOf('/') + 1)}/x`,
        `//${root}/./x`,
      ])
        expect(await readText(sandbox, path), path).toBe(`${await outputOf(sandbox, `cat '${path}'`)}\n`)
    })

    it('a write through a link inside changes the target and keeps the link', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        'mkdir -p real/deep; echo old > real/file; chmod 750 real/file; ln -s real/file link; ln -s real way; ln -s real/new fresh; ln -s link twice',
      )
      expect(await sandbox.files.write('twice', 'one\n')).toMatchObject({ path: 'real/file' })
      await sandbox.files.write('link', 'two\n', { append: true })
      await sandbox.files.write('way/deep/x', 'three\n')
      await sandbox.files.write('fresh', 'four\n')
      expect(
        await outputOf(
          sandbox,
          'cat real/file real/deep/x real/new; stat -c %a real/file; readlink link twice way fresh',
        ),
      ).toBe('one\ntwo\nthree\nfour\n750\nreal/file\nlink\nreal\nreal/new')
    })

    it('links are followed up to a depth of 40', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        'echo end > 0; for i in $(seq 45); do ln -s $((i-1)) $i; done; ln -s self self; ln -s b a; ln -s a b',
      )
      expect(await readText(sandbox, '40')).toBe('end\n')
      for (const path of ['41', '45', 'self', 'a', 'self/x'])
        await expect(sandbox.files.read(path), path).rejects.toMatchObject({ code: 'link_loop' })
    })

    it.each(followingCalls)('%s refuses links that lead outside', async (_name, go) => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await sandbox.exec(
        'mkdir in; ln -s /etc abs; ln -s /etc/hostname file; ln -s ../../../../../../../../etc up; ln -s /etc/vitrine-dangling dangling; ln -s in/../../out rel; ln -s /proc/self/root proc; ln -s abs twice',
      )
      const paths = [
        'abs',
        'file',
        'up',
        'dangling',
        'rel',
        'proc',
        'twice',
        'abs/hostname',
        'up/new',
        'proc/etc/x',
      ]
      for (const path of [...paths, '..', '../x', '/etc', '/', '/proc/self/root/etc', 'in/../../x'])
        await expect(go(files, path), path).rejects.toMatchObject({ code: 'path_outside' })
    })

    it('stat, move and remove work on links that lead outside', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await sandbox.exec('ln -s /etc/hostname file; ln -s /etc folder')
      expect(await files.stat('folder')).toMatchObject({ kind: 'symlink', target: '/etc' })
      await files.move('file', 'moved')
      await files.remove('moved')
      await files.remove('folder', { recursive: true })
      expect(await outputOf(sandbox, 'ls -A; ls -d /etc/hostname')).toBe('/etc/hostname')
    })
  })
}
