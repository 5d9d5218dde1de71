import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { outputOf } from '../files/content.ts'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { records, type TarMember, tarOf } from './tar-bytes.ts'
import { unpackCalls } from './unpack-calls.ts'
import { changesNothing } from './workspace.ts'

export interface BadTar {
  readonly rule: string
  readonly members: readonly TarMember[]
  /** The name of the bad member as the error message shows it. */
  readonly member: string
  /** Accepted by `hydrate`, which restores workspaces as they were; refused by the other calls. */
  readonly hydrated?: true
}

const long = 'x'.repeat(256)
const file = (name: string): TarMember => ({ name, content: 'x' })
const link = (name: string, target: string): TarMember => ({ name, type: '2', target })
const hard = (name: string, target: string): TarMember => ({ name, type: '1', target })

export const badTars: readonly BadTar[] = [
  { rule: 'an absolute path', members: [file('/evil')], member: '/evil' },
  {
    rule: 'an absolute path by PAX',
    members: [{ ...file('f'), pax: { path: '/etc/evil' } }],
    member: '/etc/evil',
  },
  { rule: 'a path upwards', members: [file('../evil')], member: '../evil' },
  { rule: 'a path upwards later on', members: [file('a/../../evil')], member: 'a/../../evil' },
  { rule: 'a path that only seems to go upwards', members: [file('a/../b')], member: 'a/../b' },
  { rule: 'a directory upwards', members: [{ name: '..', type: '5' }], member: '..' },
  { rule: 'a backslash', members: [file('a\\..\\evil')], member: 'a\\\\..\\\\evil', hydrated: true },
  { rule: 'a drive', members: [file('C:evil')], member: 'C:evil', hydrated: true },
  { rule: 'no name', members: [file('')], member: '""' },
  {
    rule: 'a part that is too long',
    members: [{ ...file('f'), pax: { path: `a/${long}` } }],
    member: long.slice(0, 150),
  },
  { rule: 'a device', members: [{ name: 'null', type: '3' }], member: 'null', hydrated: true },
  { rule: 'a block device', members: [{ name: 'disk', type: '4' }], member: 'disk', hydrated: true },
  { rule: 'a FIFO', members: [{ name: 'pipe', type: '6' }], member: 'pipe', hydrated: true },
  { rule: 'a link to an absolute path', members: [link('l', '/etc/passwd')], member: 'l', hydrated: true },
  { rule: 'a link upwards', members: [link('d/l', '../../../x')], member: 'd/l', hydrated: true },
  {
    rule: 'a link that leads out through another',
    members: [link('d/up', '..'), link('l', 'd/up/../..')],
    member: 'l',
    hydrated: true,
  },
  { rule: 'a link without a target', members: [link('l', '')], member: 'l' },
  { rule: 'a hard link to nothing', members: [hard('h', 'missing')], member: 'h' },
  { rule: 'a hard link to what comes later', members: [hard('h', 'f'), file('f')], member: 'h' },
  { rule: 'a hard link to an absolute path', members: [hard('h', '/etc/passwd')], member: 'h' },
  { rule: 'a hard link upwards', members: [hard('h', '../secret')], member: 'h' },
  { rule: 'a hard link to a link', members: [link('l', 'f'), hard('h', 'l'), file('f')], member: 'h' },
  { rule: 'a hard link to a directory', members: [{ name: 'd/', type: '5' }, hard('h', 'd')], member: 'h' },
  { rule: 'a hard link to what is in the workspace', members: [hard('h', 'kept')], member: 'h' },
  { rule: 'a member below a link', members: [link('l', 'd'), file('l/f')], member: 'l/f' },
  { rule: 'a link above a member', members: [file('l/f'), link('l', 'd')], member: 'l' },
  { rule: 'a member below a file', members: [file('f'), file('f/below')], member: 'f/below' },
  { rule: 'a file above a member', members: [file('f/below'), file('f')], member: 'f' },
  { rule: 'a path twice', members: [file('f'), file('f')], member: 'f' },
  { rule: 'a path twice, in other words', members: [file('d/f'), file('./d//f')], member: './d//f' },
  { rule: 'a link in the place of a file', members: [file('f'), link('f', 'g')], member: 'f' },
  {
    rule: 'a file in the place of a directory',
    members: [{ name: 'd/', type: '5' }, file('d')],
    member: 'd',
  },
  { rule: 'a root that is no directory', members: [file('.')], member: '.' },
  { rule: 'a root that is a link', members: [link('./', 'd')], member: './' },
]

/** Faults in extended headers, which belong to no member. */
const badHeaders: readonly (readonly [rule: string, members: readonly TarMember[]])[] = [
  ['a PAX path with a NUL', [{ ...file('f'), pax: { path: 'a\0b' } }]],
  [
    'a path for all that follows',
    [{ name: 'g', type: 'g', content: records({ path: '../evil' }) }, file('f')],
  ],
  [
    'a target for all that follows',
    [{ name: 'g', type: 'g', content: records({ linkpath: '/etc' }) }, link('l', 'x')],
  ],
  ['PAX records that cannot be read', [{ name: 'x', type: 'x', content: '99 path=a\n' }, file('f')]],
]

const before = [
  'mkdir -p here/dir empty && echo kept > here/kept && echo top > top && cp -p here/kept kept',
  'ln -s top link && ln top again && chmod 640 top && chmod 700 empty',
].join(' && ')

export function badTarCases(make: MakeSandbox): void {
  describe('tars with a bad member', () => {
    const shared = sharedSandbox(make)

    it.each(unpackCalls)(
      '$name refuses a tar with a bad member, names the member, and writes nothing',
      async ({ name, send }) => {
        const under = await shared()
        const { sandbox } = under
        await sandbox.exec(before)
        const refused = badTars.filter(({ hydrated }) => name !== 'hydrate' || !hydrated)
        await changesNothing(under, 'all of them', async () => {
          for (const { rule, members, member } of refused) {
            const archive = tarOf(file('first'), { name: 'dir/', type: '5' }, ...members, file('last'))
            await expect(send(sandbox, archive), rule).rejects.toMatchObject({
              code: 'archive_refused',
              message: expect.stringContaining(member),
            })
          }
        })
      },
    )

    it.each(unpackCalls)('$name refuses a tar with bad extended headers', async ({ send }) => {
      const under = await shared()
      await under.sandbox.exec(before)
      await changesNothing(under, 'all of them', async () => {
        for (const [rule, members] of badHeaders)
          await expect(send(under.sandbox, tarOf(file('first'), ...members)), rule).rejects.toMatchObject({
            code: expect.stringMatching(/^archive_(refused|invalid)$/),
          })
      })
    })

    it('extract refuses a tar with a bad member that is in the workspace', async () => {
      const under = await shared()
      const { files } = under.sandbox
      for (const [index, { members }] of badTars.entries()) {
        const archive = tarOf(file('first'), ...members)
        await files.write(`here/${index}.tgz`, gzipSync(archive), { parents: true })
      }
      await changesNothing(under, 'all of them', async () => {
        for (const [index, { rule }] of badTars.entries())
          await expect(files.extract(`here/${index}.tgz`), rule).rejects.toMatchObject({
            code: 'archive_refused',
          })
      })
    })

    it('hydrate restores names with backslashes or drive letters, and leaves special files out', async () => {
      const { sandbox } = await shared()
      for (const { members, rule } of badTars.filter(({ hydrated }) => hydrated))
        expect(await sandbox.hydrate(tarOf(file('first'), ...members)), rule).toMatchObject({
          files: expect.any(Number),
        })
      const { leftOut, leftOutCount } = await sandbox.hydrate(
        tarOf(
          file('a\\b'),
          file('C:x'),
          { name: 'p', type: '6' },
          { name: 'n', type: '3' },
          link('out', '/etc'),
        ),
      )
      expect({ leftOut, leftOutCount }).toEqual({
        leftOut: [
          { path: 'p', kind: 'fifo' },
          { path: 'n', kind: 'device' },
        ],
        leftOutCount: 2,
      })
      expect(await outputOf(sandbox, 'LC_ALL=C ls -A; readlink out')).toBe('C:x\na\\b\nout\n/etc')
    })
  })
}
