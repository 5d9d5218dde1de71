import { beforeAll, describe, expect, test } from 'vitest'
import { absent, forbidden, forbiddenToUsers } from '../../src/seccomp/policy.ts'
import { type Syscall, syscallNumber } from '../../src/seccomp/syscalls.ts'
import { arch, compileProbe, confined, type Flavour, missing, temporaryFolder } from './confined.ts'

const EPERM = 1
const ENOSYS = 38

if (missing) console.warn(`SKIPPED: the filter is not tried on the kernel: ${missing}.`)

describe.skipIf(missing)('on this kernel', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let probe: string

  beforeAll(() => {
    folder = temporaryFolder()
    probe = compileProbe(folder.path)
    return () => folder.remove()
  })

  const numbered = (names: readonly Syscall[]) =>
    names.flatMap((name) => {
      const nr = arch === undefined ? null : syscallNumber(arch, name)
      return nr === null ? [] : [{ name, nr }]
    })

  function errnos(flavour: Flavour, lines: readonly string[]): number[] {
    const { stdout, stderr, status } = confined(folder.path, flavour, [probe], `${lines.join('\n')}\n`)
    expect([status, stderr]).toEqual([0, ''])
    return stdout.trim().split('\n').map(Number)
  }

  /** Invalid arguments, so that most calls fail with another error without the filter. */
  const nowhere = '-1 -1 -1 -1 -1 -1'

  test.each(['user', 'root'] as const)('a %s gets EPERM for every forbidden call', (flavour) => {
    const calls = numbered(flavour === 'root' ? forbidden : [...forbidden, ...forbiddenToUsers])
    const answers = errnos(
      flavour,
      calls.map(({ nr }) => `${nr} ${nowhere}`),
    )
    expect(calls.map(({ name }, at) => [name, answers[at]])).toEqual(calls.map(({ name }) => [name, EPERM]))
  })

  test('the same calls fail for other reasons without the filter', () => {
    // `vhangup` would hang up the terminal that the tests run in.
    const calls = numbered([...forbidden, ...forbiddenToUsers]).filter(({ name }) => name !== 'vhangup')
    const answers = errnos(
      'none',
      calls.map(({ nr }) => `${nr} ${nowhere}`),
    )
    if (process.getuid?.() === 0) expect(answers).not.toContain(EPERM)
    else console.warn('SKIPPED: only root sees the difference between the filter and the kernel.')
  })

  test.each(['user', 'root'] as const)('a %s gets ENOSYS for every absent call', (flavour) => {
    const calls = numbered(absent)
    const answers = errnos(
      flavour,
      calls.map(({ nr }) => `${nr} ${nowhere}`),
    )
    expect(answers).toEqual(calls.map(() => ENOSYS))
  })

  test('the root of a private uid range may chroot', () => {
    const [chroot] = numbered(['chroot'])
    expect(errnos('root', [`${chroot?.nr} ${nowhere}`])).not.toEqual([EPERM])
  })

  test.each(['user', 'root'] as const)('a %s may fork and unshare, but not create a namespace', (flavour) => {
    const [clone, unshare] = numbered(['clone', 'unshare'])
    const namespaces = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
    expect(errnos(flavour, [`${clone?.nr} 17`, `${unshare?.nr} 0x400`])).toEqual([0, 0])
    const answers = errnos(flavour, [
      ...namespaces.map((flag) => `${clone?.nr} ${flag | 17}`),
      ...[0x80, ...namespaces].map((flag) => `${unshare?.nr} ${flag}`),
    ])
    expect(new Set(answers)).toEqual(new Set([EPERM]))
    expect(answers).toHaveLength(15)
  })

  test('a personality can be queried, but not changed', () => {
    const [call] = numbered(['personality'])
    const answers = errnos(
      'user',
      ['0xffffffff', '0', '0x40000', '0x400000'].map((value) => `${call?.nr} ${value}`),
    )
    expect(answers).toEqual([0, 0, EPERM, EPERM])
  })

  test('TIOCSTI is forbidden, whatever the high word holds', () => {
    const [ioctl] = numbered(['ioctl'])
    const commands = ['0x5412', '0x541c', '0xdead00005412', '0x5401']
    const answers = errnos(
      'user',
      commands.map((command) => `${ioctl?.nr} 0 ${command} 0`),
    )
    expect(answers.slice(0, 3)).toEqual([EPERM, EPERM, EPERM])
    expect(answers[3]).not.toBe(EPERM)
  })

  test.runIf(arch === 'x64')('32-bit calls get ENOSYS, and x32 calls are forbidden', () => {
    expect(errnos('user', ['i386 20', `${0x40000000 + 39}`])).toEqual([ENOSYS, EPERM])
  })
})
