import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seccompFilter } from '../../src/seccomp/filter.ts'
import { absent, absentWithoutSetId, forbidden, forbiddenToUsers } from '../../src/seccomp/policy.ts'
import { type Arch, type Syscall, syscallNumber } from '../../src/seccomp/syscalls.ts'
import { call, evaluate } from './interpreter.ts'

const allow = 0x7fff0000
const eperm = 0x00050001
const enosys = 0x00050026
const eafnosupport = 0x00050061

const audit = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
const flavours = (['x64', 'arm64'] as const).flatMap((arch) =>
  [false, true].flatMap((root) => [false, true].map((setId) => ({ arch, root, setId }))),
)

describe.each(flavours)('the filter of %o', ({ arch, root, setId }) => {
  const filter = seccompFilter(arch, { root, setId })
  const answer = (nr: number, ...args: (number | bigint)[]) =>
    evaluate(filter, call(audit[arch], nr, ...args))
  const numbers = (names: readonly Syscall[]) =>
    names.map((name) => syscallNumber(arch, name)).filter((nr) => nr !== null)
  const nr = (name: Syscall) => syscallNumber(arch, name) ?? Number.NaN

  test('fits into the limits of the kernel', () => {
    expect(filter.byteLength % 8).toBe(0)
    expect(filter.byteLength / 8).toBeLessThan(4096)
  })

  test('returns EPERM or ENOSYS for exactly the named calls', () => {
    const refused = new Set(numbers(root ? forbidden : [...forbidden, ...forbiddenToUsers]))
    const missing = new Set(numbers(setId ? absent : [...absent, ...absentWithoutSetId]))
    for (let number = 0; number < 1024; number += 1) {
      // Family 0 is AF_UNSPEC, which is not allowed.
      const isSocket = [nr('socket'), nr('socketpair')].includes(number)
      const expected = isSocket
        ? eafnosupport
        : refused.has(number)
          ? eperm
          : missing.has(number)
            ? enosys
            : allow
      expect([number, answer(number)]).toEqual([number, expected])
    }
  })

  test.each<[Syscall, number, (number | bigint)[]]>([
    ['clone', allow, [0x01200011]],
    ['clone', allow, [0x003d0f00]],
    ['clone', allow, [0x4111]],
    ['clone', allow, [0xffffffff_80000011n]],
    ['clone', allow, [0x80 | 17]],
    ...[0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000].map(
      (flag): [Syscall, number, number[]] => ['clone', eperm, [flag | 17]],
    ),
    ['clone', eperm, [0xffffffff_20000011n]],
    ['clone', allow, [17, 0x7e020000]],
    ['unshare', allow, [0]],
    ['unshare', allow, [0x400]],
    ['unshare', allow, [0x40200]],
    ...[0x80, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000].map(
      (flag): [Syscall, number, number[]] => ['unshare', eperm, [flag | 0x400]],
    ),
    ['unshare', eperm, [0x80000000]],
    ['unshare', eperm, [0x1_00000000n]],
    ['personality', allow, [0]],
    ['personality', allow, [0xffffffff]],
    ['personality', allow, [0xffffffff_ffffffffn]],
    ['personality', eperm, [0x0040000]],
    ['personality', eperm, [0x0400000]],
    ['personality', eperm, [8]],
    ['ioctl', allow, [0, 0x5401]],
    ['ioctl', eperm, [0, 0x5412]],
    ['ioctl', eperm, [0, 0x541c]],
    ['ioctl', eperm, [0, 0xdeadbeef_00005412n]],
    ['ioctl', allow, [0x5412, 0x5413]],
    ...[1, 2, 10, 16].map((family): [Syscall, number, number[]] => ['socket', allow, [family]]),
    ...[0, 3, 17, 38, 40, 44].map((family): [Syscall, number, number[]] => [
      'socket',
      eafnosupport,
      [family],
    ]),
    ['socketpair', allow, [1]],
    ['socketpair', eafnosupport, [40]],
  ])('returns for %s the action %i with %o', (name, expected, args) => {
    expect(answer(nr(name), ...args)).toBe(expected)
  })

  test.each<[Syscall, (number | bigint)[]]>([
    ['chmod', [0, 0o4755]],
    ['chmod', [0, 0o2755]],
    ['fchmod', [0, 0o6755]],
    ['fchmodat', [0, 0, 0o4755]],
    ['fchmodat2', [0, 0, 0o4755]],
    ['creat', [0, 0o4755]],
    ['mknod', [0, 0o104755]],
    ['mknodat', [0, 0, 0o104755]],
    ['open', [0, 0o101, 0o4755]],
    ['openat', [0, 0, 0o101, 0o4755]],
    ['openat', [0, 0, 0o20200001, 0o2755]],
  ])('lets %s set setuid or setgid bits only if setId is on: %o', (name, args) => {
    if (syscallNumber(arch, name) !== null) expect(answer(nr(name), ...args)).toBe(setId ? allow : eperm)
  })

  test.each<[Syscall, (number | bigint)[]]>([
    ['chmod', [0, 0o1777]],
    ['fchmodat', [0, 0, 0o755, 0o6000]],
    // The kernel ignores the mode if no file is created.
    ['openat', [0, 0, 0o1, 0o6777]],
    ['open', [0, 0, 0o6777]],
    ['openat', [0, 0, 0o101, 0o1777]],
  ])('allows %s with %o', (name, args) => {
    if (syscallNumber(arch, name) !== null) expect(answer(nr(name), ...args)).toBe(allow)
  })

  test('returns ENOSYS for calls of another architecture', () => {
    for (const other of [0x40000003, 0x40000028, 0xc0000015, 0, audit[arch === 'x64' ? 'arm64' : 'x64']])
      for (const number of [0, 1, 39, 60, 0x40000027])
        expect(evaluate(filter, call(other, number))).toBe(enosys)
  })

  test.runIf(arch === 'x64')('forbids the x32 calls', () => {
    for (const number of [0x40000000, 0x40000027, 0x7fffffff, 0xffffffff]) expect(answer(number)).toBe(eperm)
  })

  const word = fc.oneof(
    fc.nat(0xffffffff),
    fc.constantFrom(0, 0x5412, 0x541c, 0xffffffff, 0x20000, 0x400, 0o4755, 0o101),
  )
  const anyCall = fc.record({
    arch: fc.oneof({ weight: 4, arbitrary: fc.constant(audit[arch]) }, fc.nat(0xffffffff)),
    nr: fc.oneof({ weight: 4, arbitrary: fc.nat(520) }, fc.nat(0xffffffff)),
    args: fc.array(fc.tuple(word, word), { minLength: 6, maxLength: 6 }),
  })

  test('returns for every call the action that the policy gives', () => {
    fc.assert(
      fc.property(anyCall, (one) => {
        expect(evaluate(filter, one)).toBe(expectedAnswer(arch, root, setId, one))
      }),
      { numRuns: 5000 },
    )
  })
})

/** A second implementation of the policy, to compare with. */
function expectedAnswer(
  arch: Arch,
  root: boolean,
  setId: boolean,
  { arch: caller, nr, args }: ReturnType<typeof call>,
): number {
  if (caller !== audit[arch]) return enosys
  if (arch === 'x64' && nr >= 0x40000000) return eperm
  const is = (name: Syscall) => syscallNumber(arch, name) === nr
  const [first = [0, 0], second = [0, 0], third = [0, 0], fourth = [0, 0]] = args
  if (absent.some(is) || (is('openat2') && !setId)) return enosys
  if (forbidden.some(is) || (is('chroot') && !root)) return eperm
  if (is('socket') || is('socketpair')) return [1, 2, 10, 16].includes(first[0]) ? allow : eafnosupport
  if (is('ioctl')) return [0x5412, 0x541c].includes(second[0]) ? eperm : allow
  if (is('clone')) return BigInt(first[0]) & 0x7e020000n ? eperm : allow
  if (is('unshare')) return first[1] !== 0 || BigInt(first[0]) & ~0x50f00n ? eperm : allow
  if (is('personality')) return first[0] === 0 || first[0] === 0xffffffff ? allow : eperm
  if (setId) return allow
  const setsId = (mode: readonly [number, number]) => (mode[0] & 0o6000 ? eperm : allow)
  if (is('chmod') || is('fchmod') || is('creat') || is('mknod')) return setsId(second)
  if (is('fchmodat') || is('fchmodat2') || is('mknodat')) return setsId(third)
  if (is('open')) return second[0] & 0o20000100 ? setsId(third) : allow
  if (is('openat')) return third[0] & 0o20000100 ? setsId(fourth) : allow
  return allow
}
