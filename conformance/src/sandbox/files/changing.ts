import { describe, expect, it } from 'vitest'
import { type MakeSandbox, newSandbox, sharedSandbox } from '../kit.ts'
import { outputOf } from './content.ts'

export function changingCases(make: MakeSandbox): void {
  describe('mkdir', () => {
    const shared = sharedSandbox(make)

    it('mkdir creates one directory, or all missing parents', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await files.mkdir('one', { mode: 0o700 })
      await files.mkdir('a/b/c/', { parents: true })
      await files.mkdir('a/b/c', { parents: true })
      expect(await outputOf(sandbox, 'stat -c "%a %F" one a/b/c')).toBe('700 directory\n755 directory')
      await expect(files.mkdir('one')).rejects.toMatchObject({ code: 'file_exists' })
      await expect(files.mkdir('x/y')).rejects.toMatchObject({ code: 'file_not_found' })
      await files.write('file', '')
      await expect(files.mkdir('file', { parents: true })).rejects.toMatchObject({ code: 'file_exists' })
      await expect(files.mkdir('file/x', { parents: true })).rejects.toMatchObject({
        code: 'file_not_directory',
      })
    })
  })

  describe('move', () => {
    const shared = sharedSandbox(make)

    it('move renames, replaces a file, and creates missing parents unless told not to', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await sandbox.exec('echo a > a; echo b > b; mkdir full empty; echo in > full/in; ln -s a link')
      await files.move('a', 'b')
      await expect(files.move('b', 'deep/er/b', { parents: false })).rejects.toMatchObject({
        code: 'file_not_found',
      })
      await files.move('b', 'deep/er/b')
      await files.move('full', 'empty')
      await files.move('link', 'other')
      expect(await outputOf(sandbox, 'find . | sort; cat deep/er/b; readlink other')).toBe(
        '.\n./deep\n./deep/er\n./deep/er/b\n./empty\n./empty/in\n./other\na\na',
      )
    })

    it('move refuses to replace a non-empty directory, and to move a directory into itself', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await sandbox.exec('mkdir -p one two/full; : > file')
      for (const [from, to, code] of [
        ['one', 'two', 'directory_not_empty'],
        ['file', 'one', 'file_is_directory'],
        ['file', 'new/', 'file_not_directory'],
        ['one', 'file', 'file_not_directory'],
        ['two', 'two/full/it', 'argument_invalid'],
        ['missing', 'x', 'file_not_found'],
        ['file', 'missing/../x', 'file_not_found'],
        ['file', 'file/x', 'file_not_directory'],
        ['.', 'x', 'argument_invalid'],
        ['file', '..', 'path_outside'],
        ['file', '../x', 'path_outside'],
        ['file', '/etc/x', 'path_outside'],
      ] as const)
        await expect(files.move(from, to), `${from} to ${to}`).rejects.toMatchObject({ code })
      expect(await outputOf(sandbox, 'find . | sort')).toBe('.\n./file\n./one\n./two\n./two/full')
    })

    it('move of one hard link over another leaves one name', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('echo x > a; ln a b; echo y > c')
      await sandbox.files.move('a', 'b')
      await sandbox.files.move('c', 'c')
      expect(await outputOf(sandbox, 'ls; cat b c')).toBe('b\nc\nx\ny')
    })
  })

  describe('remove', () => {
    const shared = sharedSandbox(make)

    it('remove deletes a file, a link, an empty directory, or a tree on request', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await sandbox.exec(
        'echo kept > kept; ln -s kept link; mkdir -p empty tree/a/b; echo x > tree/a/b/c; ln -s ../kept tree/l; chmod 0 tree/a/b; mkfifo tree/fifo; mkdir outer; echo in > outer/in; ln -s ../outer tree/outer',
      )
      await files.remove('link')
      await files.remove('empty')
      await expect(files.remove('tree')).rejects.toMatchObject({ code: 'directory_not_empty' })
      await files.remove('tree', { recursive: true })
      await expect(files.remove('tree')).rejects.toMatchObject({ code: 'file_not_found' })
      await files.remove('tree', { force: true })
      await files.remove('missing/deeper', { force: true, recursive: true })
      await expect(files.remove('.', { recursive: true })).rejects.toMatchObject({ code: 'argument_invalid' })
      await expect(files.remove('..', { recursive: true })).rejects.toMatchObject({ code: 'path_outside' })
      expect(await outputOf(sandbox, 'find . -type f | sort')).toBe('./kept\n./outer/in')
    })

    it('remove deletes a tree that is deeper than the longest path', async () => {
      const { sandbox } = await newSandbox(make, { watch: false })
      await sandbox.exec(
        'p=; for i in $(seq 30); do p=$p$(printf "%0100d/" 0); done; mkdir top; cd top; for i in $(seq 10); do mkdir -p $p && cd $p; done; : > bottom',
        { shell: 'bash' },
      )
      await sandbox.files.remove('top', { recursive: true })
      expect(await outputOf(sandbox, 'ls -A')).toBe('')
    })

    it('remove deletes a tree that a process still changes', async () => {
      const { sandbox } = await newSandbox(make, { watch: false })
      await sandbox.exec('mkdir -p tree/a; cd tree/a; seq 2000 | xargs touch')
      const busy = await sandbox.spawn(
        'cd tree/a; while :; do mkdir x && rmdir x; : > y; rm -f y; rm -f 1* ; done 2> /dev/null',
      )
      await sandbox.files.remove('tree', { recursive: true })
      await busy.kill()
      expect(await sandbox.files.exists('tree')).toBe(false)
    })
  })

  describe('chmod', () => {
    const shared = sharedSandbox(make)

    it("chmod sets the permission bits of a file, a directory and a link's target", async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await sandbox.exec(': > file; mkdir folder; ln -s file link')
      await files.chmod('link', 0o600)
      await files.chmod('folder', 0o1770)
      expect(await outputOf(sandbox, 'stat -c %a file folder')).toBe('600\n1770')
      for (const mode of [0o4755, 0o2755, -1, 0.5, Number.NaN])
        await expect(files.chmod('file', mode)).rejects.toMatchObject({ code: 'argument_invalid' })
      await expect(files.chmod('missing', 0o600)).rejects.toMatchObject({ code: 'file_not_found' })
    })

    it("chmod refuses to take the owner's access to the workspace itself", async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      for (const mode of [0, 0o077, 0o555, 0o1600])
        for (const path of ['.', sandbox.root])
          await expect(files.chmod(path, mode)).rejects.toMatchObject({ code: 'argument_invalid' })
      await files.chmod('.', 0o700)
      expect(await outputOf(sandbox, 'stat -c %a . && touch new && ls')).toBe('700\nnew')
    })
  })
}
