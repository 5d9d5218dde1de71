import { describe, expect, it } from 'vitest'
import { withTimeLimit } from '../../waiting/within.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from '../kit.ts'
import { outputOf, readText } from './content.ts'

/** Regression cases for faults found in other systems. Each test name describes the fault. */
export function fileRegressionCases(make: MakeSandbox): void {
  describe('file bugs of other sandboxes', () => {
    const shared = sharedSandbox(make)

    it('TanStack AI sandbox B8: containment was lexical, and a link to /etc read the host', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('ln -s /etc esc')
      for (const path of ['esc/hostname', `${sandbox.root}/esc/hostname`])
        await expect(sandbox.files.read(path)).rejects.toMatchObject({ code: 'path_outside' })
    })

    it('goclaw 1201: a write through a dangling link created the file outside', async () => {
      const { sandbox } = await newSandbox(make)
      await sandbox.exec('mkdir ~/outside; ln -s ~/outside/new dangling; ln -s ~/outside/none way')
      for (const [path, parents] of [
        ['dangling', false],
        ['way/deep/new', true],
      ] as const)
        await expect(sandbox.files.write(path, 'x', { parents })).rejects.toMatchObject({
          code: 'path_outside',
        })
      expect(await outputOf(sandbox, 'ls -A ~/outside')).toBe('')
    })

    it('chmod by path followed a planted link and changed a file of the system', async () => {
      const { sandbox } = await newSandbox(make)
      await sandbox.exec('echo x > ~/victim; chmod 600 ~/victim; ln -s ~/victim link')
      await expect(sandbox.files.chmod('link', 0o777)).rejects.toMatchObject({ code: 'path_outside' })
      expect(await outputOf(sandbox, 'stat -c %a ~/victim')).toBe('600')
    })

    it('four reads of a FIFO blocked every file call of the process', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('for i in 1 2 3 4 5 6 7 8; do mkfifo fifo$i; done; echo on > file')
      const reads = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((one) => [
        sandbox.files.read(`fifo${one}`),
        sandbox.files.write(`fifo${one}`, 'x'),
        sandbox.files.search('.', { content: 'x' }),
      ])
      const settled = Promise.allSettled(reads)
      expect(await withTimeLimit('another read', readText(sandbox, 'file'))).toBe('on\n')
      const refused = (await withTimeLimit('their results', settled)).filter(
        ({ status }) => status === 'rejected',
      )
      expect(refused).toHaveLength(16)
    })

    it('a recursive rm walked by path, and through a link that was put in its way', async () => {
      const { sandbox } = await newSandbox(make)
      await sandbox.exec(
        'mkdir -p ~/victim/deep tree/a; echo x > ~/victim/deep/file; ln -s ~/victim tree/link; ln -s ~/victim tree/a/link; ln -s tree way',
      )
      await sandbox.files.remove('way', { recursive: true })
      expect(await outputOf(sandbox, 'ls tree')).toBe('a\nlink')
      await sandbox.files.remove('tree', { recursive: true })
      expect(await outputOf(sandbox, 'ls -A; cat ~/victim/deep/file')).toBe('x')
    })

    it('O_NOFOLLOW everywhere refused valid links: .bin, and the store of pnpm', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        'mkdir -p node_modules/.bin node_modules/.pnpm/left@1/node_modules/left; cd node_modules; echo js > .pnpm/left@1/node_modules/left/cli.js; ln -s .pnpm/left@1/node_modules/left left; ln -s ../left/cli.js .bin/left',
      )
      expect(await readText(sandbox, 'node_modules/.bin/left')).toBe('js\n')
      expect((await sandbox.files.list('node_modules/left')).entries).toMatchObject([
        { path: 'node_modules/.pnpm/left@1/node_modules/left/cli.js' },
      ])
      await sandbox.files.write('node_modules/left/cli.js', 'changed\n')
      expect(await outputOf(sandbox, 'cat node_modules/.bin/left; readlink node_modules/left')).toBe(
        'changed\n.pnpm/left@1/node_modules/left',
      )
    })

    it('a root host left files that the user of the sandbox could not edit', async () => {
      const { sandbox } = await shared()
      await sandbox.files.write('deep/er/file', 'one\n', { parents: true })
      await sandbox.exec('echo mine > theirs; chmod 600 theirs')
      await sandbox.files.write('theirs', 'written\n')
      await sandbox.files.write('theirs', 'appended\n', { append: true })
      const { exitCode, stdout, stderr } = await sandbox.exec(
        'echo two >> deep/er/file && echo x > deep/er/beside && echo own >> theirs && cat theirs && stat -c %a theirs && rm -r deep theirs && ls -A',
      )
      expect([exitCode, stderr, stdout]).toEqual([0, '', 'written\nappended\nown\n600\n'])
    })
  })
}
