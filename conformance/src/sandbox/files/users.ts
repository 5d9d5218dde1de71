import { describe, expect, it } from 'vitest'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { outputOf } from './content.ts'

export function userCases(make: MakeSandbox): void {
  describe('the user of an operation', () => {
    const shared = sharedSandbox(make)

    it('an unknown user is refused', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      const user = 'vitrine-nobody-at-all'
      for (const call of [
        () => files.read('.', { user }),
        () => files.write('x', 'x', { user }),
        () => files.list('.', { user }),
        () => files.remove('x', { user, force: true }),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'user_unknown' })
      expect(await outputOf(sandbox, 'ls -A')).toBe('')
    })

    it("calls as the sandbox's user have its rights and no more", async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      const [user = '', id] = (await outputOf(sandbox, 'id -un; id -u')).split('\n')
      await files.write('a/b/file', 'x', { user, parents: true })
      await files.mkdir('c/d/e', { user, parents: true })
      expect(await outputOf(sandbox, 'stat -c %U a a/b a/b/file c c/d c/d/e | sort -u')).toBe(user)
      await sandbox.exec('chmod 0 a/b/file; mkdir shut; : > shut/in; chmod 500 shut; chmod 700 a')
      if (id === '0') return
      await expect(files.read('a/b/file', { user })).rejects.toMatchObject({ code: 'file_denied' })
      await expect(files.write('shut/new', 'x', { user })).rejects.toMatchObject({ code: 'file_denied' })
      await expect(files.remove('shut', { user, recursive: true })).rejects.toMatchObject({
        code: 'file_denied',
      })
      expect(await outputOf(sandbox, 'ls shut')).toBe('in')
    })
  })
}
