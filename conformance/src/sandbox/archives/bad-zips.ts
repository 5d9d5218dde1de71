import { describe, expect, it } from 'vitest'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { extractZip } from './unpack-calls.ts'
import { changesNothing } from './workspace.ts'
import { type ZipMember, zipOf } from './zip-bytes.ts'

const file = (name: string): ZipMember => ({ name, content: 'x' })
const link = (name: string, target: string): ZipMember => ({ name, content: target, mode: 0o120777 })

export const badZips: readonly (readonly [rule: string, entries: readonly ZipMember[], member: string])[] = [
  ['an absolute path', [file('/evil')], '/evil'],
  ['a path upwards', [file('../evil')], '../evil'],
  ['a backslash', [file('..\\evil')], '..\\\\evil'],
  ['a drive', [file('C:/evil')], 'C:/evil'],
  ['a NUL', [file('a\0b')], 'a\\u0000b'],
  ['a part that is too long', [file('x'.repeat(256))], 'x'.repeat(150)],
  ['a FIFO', [{ name: 'pipe', mode: 0o010644 }], 'pipe'],
  ['a device', [{ name: 'disk', mode: 0o060644 }], 'disk'],
  ['a socket', [{ name: 'sock', mode: 0o140644 }], 'sock'],
  ['a link to an absolute path', [link('l', '/etc/passwd')], 'l'],
  ['a link upwards', [link('l', '../../x')], 'l'],
  ['a link that leads out through another', [link('d/up', '..'), link('l', 'd/up/../..')], 'l'],
  ['a member below a link', [link('l', 'dir'), file('l/f')], 'l/f'],
  ['a link above a member', [file('l/f'), link('l', 'dir')], 'l'],
  ['a member below a file', [file('f'), file('f/below')], 'f/below'],
  ['a file above a member', [file('f/below'), file('f')], 'f'],
  ['a path twice', [file('f'), file('./f')], './f'],
]

const unreadable: readonly (readonly [rule: string, entries: readonly ZipMember[]])[] = [
  ['a wrong checksum', [{ ...file('f'), crc: 1 }]],
  ['another name in front of the content', [{ ...file('f'), localName: 'g' }]],
  ['an unknown method', [{ ...file('f'), method: 99 }]],
  ['a password', [{ ...file('f'), flags: 0x801 }]],
  ['content that is no deflate', [{ ...file('f'), method: 8 }]],
]

export function badZipCases(make: MakeSandbox): void {
  describe('zips with a bad member', () => {
    const shared = sharedSandbox(make)

    it('extract refuses a zip with a bad member, names the member, and writes nothing', async () => {
      const under = await shared()
      const { sandbox } = under
      await sandbox.exec('mkdir -p here/dir && echo kept > here/kept')
      await changesNothing(under, 'all of them', async () => {
        for (const [rule, entries, member] of badZips)
          await expect(
            extractZip.send(sandbox, zipOf(file('first'), ...entries, file('last'))),
            rule,
          ).rejects.toMatchObject({ code: 'archive_refused', message: expect.stringContaining(member) })
      })
    })

    it('extract refuses a zip with an unreadable member, and writes nothing', async () => {
      const under = await shared()
      const { sandbox } = under
      await sandbox.exec('mkdir -p here/dir && echo kept > here/kept')
      await changesNothing(under, 'all of them', async () => {
        for (const [rule, entries] of unreadable)
          await expect(
            extractZip.send(sandbox, zipOf(file('first'), ...entries)),
            rule,
          ).rejects.toMatchObject({ code: expect.stringMatching(/^archive_(invalid|refused)$/) })
      })
    })

    it('extract refuses a zip with a bad member that is in the workspace', async () => {
      const under = await shared()
      const { files } = under.sandbox
      for (const [index, [, entries]] of badZips.entries())
        await files.write(`here/${index}.zip`, zipOf(file('first'), ...entries), { parents: true })
      await changesNothing(under, 'all of them', async () => {
        for (const [index, [rule]] of badZips.entries())
          await expect(files.extract(`here/${index}.zip`), rule).rejects.toMatchObject({
            code: 'archive_refused',
          })
      })
    })
  })
}
