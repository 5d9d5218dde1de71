import { describe, expect, it } from 'vitest'
import { outputOf, readText } from '../files/content.ts'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { faultsOf } from '../watching/changes.ts'
import { type TarMember, tarOf } from './tar-bytes.ts'
import { additiveCalls } from './unpack-calls.ts'
import { changesNothing } from './workspace.ts'

const before = [
  'mkdir -p here/dir real && echo kept > here/file && echo kept > here/dir/f && echo kept > real/f',
  'ln -s /etc here/out && ln -s ../real here/in && ln -s missing here/dangling && mkfifo here/pipe',
].join(' && ')

const refused: readonly (readonly [what: string, members: readonly TarMember[], member: string])[] = [
  ['below a link that leads out', [{ name: 'out/evil', content: 'x' }], 'out'],
  ['below a link that stays inside', [{ name: 'in/f', content: 'x' }], 'in'],
  ['below a link to nothing', [{ name: 'dangling/f', content: 'x' }], 'dangling'],
  ['below a file', [{ name: 'file/f', content: 'x' }], 'file'],
  ['a directory in the place of a link', [{ name: 'out/', type: '5' }], 'out'],
  ['a directory in the place of a FIFO', [{ name: 'pipe/', type: '5' }], 'pipe'],
  ['a file in the place of a directory', [{ name: 'dir', content: 'x' }], 'dir'],
  ['a link in the place of a directory', [{ name: 'dir', type: '2', target: 'file' }], 'dir'],
]

export function unpackingOverCases(make: MakeSandbox): void {
  describe('unpacking over existing files', () => {
    const shared = sharedSandbox(make)

    it.each(additiveCalls)('$name refuses to follow existing links, and writes nothing', async ({ send }) => {
      const under = await shared()
      await under.sandbox.exec(before)
      await changesNothing(under, 'all of them', async () => {
        for (const [what, members, member] of refused) {
          // One valid member sorts before the refused one, and one after it.
          const archive = tarOf({ name: 'a', content: 'x' }, ...members, { name: 'zz', content: 'x' })
          await expect(send(under.sandbox, archive), what).rejects.toMatchObject({
            code: 'archive_refused',
            message: expect.stringContaining(member),
          })
        }
      })
    })

    it.each(additiveCalls)('$name replaces files and links, never the targets of links', async ({ send }) => {
      const under = await shared()
      const { sandbox } = under
      await sandbox.exec(`${before}; rm here/pipe; ln here/file other-name`)
      await send(
        sandbox,
        tarOf(
          { name: 'in', content: 'was a link' },
          { name: 'file', content: 'new' },
          { name: 'out', type: '2', target: 'dir' },
          { name: 'dir/g', content: 'more' },
        ),
      )
      expect(
        await outputOf(sandbox, 'cat here/in here/file; readlink here/out; cat here/dir/f real/f other-name'),
      ).toBe('was a linknewdir\nkept\nkept\nkept')
      expect(await readText(sandbox, 'here/out/g')).toBe('more')
      if (sandbox.capabilities.watching !== 'none') expect(await faultsOf(under)).toEqual([])
    })
  })
}
