import type { LeftOut } from '@vitrine/protocol'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ArchiveTally } from '../src/limits.ts'
import type { Member } from '../src/member.ts'
import { type AcceptedMember, ArchiveRules, type RuleOptions } from '../src/rules.ts'

type Given = Partial<Member> & Pick<Member, 'name'>

function judge(
  members: readonly Given[],
  options: Partial<RuleOptions> = {},
): { judged: (AcceptedMember | undefined)[]; leftOut: LeftOut[] } {
  const leftOut: LeftOut[] = []
  const rules = new ArchiveRules(
    {
      special: 'refuse',
      links: 'inside',
      below: '',
      rootPath: undefined,
      tally: new ArchiveTally(),
      ...options,
    },
    (left) => leftOut.push(left),
  )
  const judged = members.map((given) =>
    rules.check({ kind: 'file', mode: 0o644, mtime: 0, size: 0, target: '', ...given }),
  )
  for (const _ of rules.finish());
  return { judged, leftOut }
}

const refusedAs = (rule: RegExp | string) =>
  expect.objectContaining({
    code: 'archive_refused',
    message: expect.stringMatching(rule),
  })

const file = (name: string): Given => ({ name })
const directory = (name: string): Given => ({ name, kind: 'directory', mode: 0o755 })
const symlink = (name: string, target: string): Given => ({ name, kind: 'symlink', target })
const hardlink = (name: string, target: string): Given => ({ name, kind: 'hardlink', target })

describe('the name of a member', () => {
  it.each([
    ['/etc/passwd', 'absolute'],
    ['..', 'contains ".."'],
    ['../evil', 'contains ".."'],
    ['a/../../evil', 'contains ".."'],
    ['a/..', 'contains ".."'],
    ['a\\..\\evil', 'backslash'],
    ['C:/evil', 'drive letter'],
    ['c:evil', 'drive letter'],
    ['a\0b', 'NUL'],
    ['', 'no name'],
    ['a'.repeat(256), '255 bytes'],
    [`d/${'ü'.repeat(128)}`, '255 bytes'],
    ['a/'.repeat(2_100), '4095 bytes'],
  ])('a member name must not be %j', (name, rule) => {
    expect(() => judge([file(name)])).toThrow(refusedAs(rule))
    expect(() => judge([directory(name)])).toThrow(refusedAs(rule))
  })

  it.each([
    ['a', 'a'],
    ['./a', 'a'],
    ['a//b/./c', 'a/b/c'],
    ['..a/b..', '..a/b..'],
    ['a'.repeat(255), 'a'.repeat(255)],
    ['\udcff'.repeat(255), '\udcff'.repeat(255)],
    ['...', '...'],
  ])('a member name may be %j', (name, path) => expect(judge([file(name)]).judged[0]).toMatchObject({ path }))

  it('an archive of our own may contain Windows-like names', () =>
    expect(judge([file('C:\\x')], { links: 'any' }).judged[0]).toMatchObject({ path: 'C:\\x' }))

  it('only a directory may have the name of the root', () => {
    expect(judge([directory('./'), directory('.')]).judged[0]).toMatchObject({ path: '' })
    for (const root of [file('./'), symlink('.', 'a'), { name: './', kind: 'fifo' } as const])
      expect(() => judge([root], { special: 'leave-out' })).toThrow(refusedAs('root'))
  })

  it('no member name ever leads outside', () =>
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '.', '..', '', '/', '\\', 'C:', '\0')), (parts) => {
        let path: string | undefined
        try {
          path = judge([file(parts.join('/'))]).judged[0]?.path
        } catch (error) {
          expect(error).toMatchObject({ code: 'archive_refused' })
        }
        expect(path ?? 'a').toMatch(/^a(\/(a|C:))*$/)
      }),
    ))
})

describe('members that meet', () => {
  it.each([
    ['two files', [file('a'), file('./a')], 'twice'],
    ['a file and a directory', [file('a'), directory('a/')], 'twice'],
    ['a directory and a file', [directory('a/'), file('a')], 'twice'],
    ['two links', [symlink('a', 'b'), symlink('a', 'c')], 'twice'],
    ['a file under a file', [file('a'), file('a/b')], 'no directory'],
    ['a file that has one under it', [file('a/b'), file('a')], 'members under it'],
    ['a file under a link', [symlink('a', 'b'), file('a/c')], 'under a symbolic link'],
    ['a file far under a link', [symlink('a', 'b'), file('a/c/d/e')], 'under a symbolic link'],
    ['a link that has a file under it', [file('a/c'), symlink('a', 'b')], 'members under it'],
    ['a link over a directory', [directory('a'), symlink('a', 'b')], 'twice'],
    ['a directory over a link', [symlink('a', 'b'), directory('a')], 'twice'],
    ['a link under a link', [symlink('a', 'b'), symlink('a/c', 'd')], 'under a symbolic link'],
    ['a file under a hard link', [file('a'), hardlink('b', 'a'), file('b/c')], 'no directory'],
  ])('refuses conflicting members: %s', (_, members, rule) => {
    expect(() => judge(members)).toThrow(refusedAs(rule))
    expect(() => judge(members, { links: 'any' })).toThrow(refusedAs(rule))
  })

  it('accepts a directory several times; the last one sets its mode', () =>
    expect(
      judge([file('a/b'), directory('a'), { ...directory('a'), mode: 0o700 }]).judged.map((one) => one?.mode),
    ).toEqual([0o644, 0o755, 0o700]))

  it('refuses a member under a non-directory, in any order', () =>
    fc.assert(
      fc.property(
        fc.shuffledSubarray([file('a/b/c'), file('x'), directory('y'), symlink('a', 'y')], { minLength: 4 }),
        (members) => {
          expect(() => judge(members, { links: 'any' })).toThrow(refusedAs(/symbolic link|members under/))
        },
      ),
    ))

  it('implied parent directories count as members', () =>
    expect(() => judge([file('a/b/c/d')], { tally: new ArchiveTally({ members: 3 }) })).toThrow(
      expect.objectContaining({ code: 'archive_too_large' }),
    ))
})

describe('a hard link', () => {
  it('accepts a hard link to an earlier file', () =>
    expect(judge([file('./a'), hardlink('b', 'a'), hardlink('c', './b')]).judged.at(-1)).toMatchObject({
      kind: 'hardlink',
      target: 'b',
    }))

  it.each([
    ['a file that comes later', [hardlink('b', 'a'), file('a')]],
    ['itself', [hardlink('b', 'b')]],
    ['a directory', [directory('a'), hardlink('b', 'a')]],
    ['a symbolic link', [symlink('a', 'c'), hardlink('b', 'a')]],
    ['something outside', [hardlink('b', '../a')]],
    ['something absolute', [hardlink('b', '/etc/passwd')]],
    ['nothing', [hardlink('b', '')]],
  ])('refuses a hard link to %s', (_, members) =>
    expect(() => judge(members)).toThrow(refusedAs('hard link')),
  )
})

describe('a symbolic link', () => {
  it.each([
    ['a', '/etc/passwd'],
    ['a', '..'],
    ['a', '../x'],
    ['d/a', '../../x'],
    ['d/a', 'e/../../../x'],
    ['a', 'x/../..'],
  ])('refuses the symbolic link %s -> %s, which leads outside', (name, target) => {
    expect(() => judge([symlink(name, target)])).toThrow(refusedAs('leads out'))
    expect(judge([symlink(name, target)], { links: 'any' }).judged[0]).toMatchObject({ target })
  })

  it.each([
    ['a', 'x'],
    ['a', '.'],
    ['d/a', '..'],
    ['d/a', '../x'],
    ['d/a', './e//../../x'],
    ['a', '..x'],
  ])('accepts the symbolic link %s -> %s, which stays inside', (name, target) =>
    expect(judge([symlink(name, target)]).judged[0]).toMatchObject({ kind: 'symlink', target }),
  )

  it('a link may leave the unpacked directory, but not the workspace', () => {
    expect(judge([symlink('a', '../x')], { below: 'sub/dir' }).judged).toHaveLength(1)
    expect(judge([symlink('a', '../../x')], { below: 'sub/dir' }).judged).toHaveLength(1)
    expect(() => judge([symlink('a', '../../../x')], { below: 'sub/dir' })).toThrow(refusedAs('leads out'))
  })

  it('a link may be absolute below the path of the workspace', () => {
    const rootPath = '/home/user/work'
    expect(judge([symlink('a', '/home/user/work/x')], { rootPath }).judged[0]).toMatchObject({
      target: '/home/user/work/x',
    })
    for (const target of ['/home/user/workshop', '/home/user/work/../x', '/home/user/work/x/../../y', '/'])
      expect(() => judge([symlink('a', target)], { rootPath })).toThrow(refusedAs('leads out'))
  })

  it.each([
    ['', 'invalid target'],
    ['a\0b', 'invalid target'],
    ['x'.repeat(4_096), 'invalid target'],
  ])('refuses the link target %j', (target, rule) => {
    expect(() => judge([symlink('a', target)])).toThrow(refusedAs(rule))
    expect(() => judge([symlink('a', target)], { links: 'any' })).toThrow(refusedAs(rule))
  })

  it('refuses a link that leads outside through another link, in either order', () => {
    const members = [symlink('deep/er/up', '../..'), symlink('out', 'deep/er/up/../x')]
    expect(() => judge(members)).toThrow(refusedAs('through another'))
    expect(() => judge(members.toReversed())).toThrow(refusedAs('through another'))
    expect(() => judge(members, { below: 'a' })).not.toThrow()
    expect(() =>
      judge([symlink('deep/er/up', '../../..'), symlink('out', 'deep/er/up/../x')], { below: 'a' }),
    ).toThrow(refusedAs('through another'))
  })

  it('accepts links that form a loop', () =>
    expect(judge([symlink('a', 'b'), symlink('b', 'a/c')]).judged).toHaveLength(2))
})

describe('a special file', () => {
  it.each(['fifo', 'socket', 'device'] as const)(
    'refuses or omits a %s, depending on the options',
    (kind) => {
      expect(() => judge([{ name: 'a', kind }])).toThrow(refusedAs(kind))
      const { judged, leftOut } = judge([{ name: 'a', kind }], { special: 'leave-out' })
      expect(judged).toEqual([undefined])
      expect(leftOut).toEqual([{ path: 'a', kind }])
      expect(() => judge([{ name: 'a', kind }, file('a/b')], { special: 'leave-out' })).toThrow(
        refusedAs('no directory'),
      )
    },
  )

  it.each([0o4755, 0o2755, 0o6755])('drops setuid and setgid bits: %o', (mode) => {
    expect(judge([{ name: 'a', mode }])).toEqual({
      judged: [{ kind: 'file', path: 'a', mode: 0o755, target: '' }],
      leftOut: [],
    })
    expect(judge([{ ...directory('d'), mode: mode | 0o1000 }], { special: 'leave-out' })).toEqual({
      judged: [{ kind: 'directory', path: 'd', mode: 0o1755, target: '' }],
      leftOut: [{ path: 'd', kind: 'setuid' }],
    })
  })
})
