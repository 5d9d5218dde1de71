import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { absent, forbidden, forbiddenToUsers } from '../../src/seccomp/policy.ts'
import { type Arch, type Syscall, syscallNumber } from '../../src/seccomp/syscalls.ts'

const named: readonly Syscall[] = [
  ...forbidden,
  ...forbiddenToUsers,
  ...absent,
  'ioctl',
  'clone',
  'unshare',
  'personality',
]

/** Calls that are newer than the headers of the distributions we build on. */
const young: ReadonlySet<Syscall> = new Set(['open_tree_attr'])

/** arm64 uses the generic table. */
const headers: readonly (readonly [Arch, string])[] = [
  ['x64', '/usr/include/x86_64-linux-gnu/asm/unistd_64.h'],
  ['arm64', '/usr/include/asm-generic/unistd.h'],
]

test.each(headers)('the numbers of %s equal those of the kernel headers', (arch, path) => {
  if (!existsSync(path)) {
    console.warn(`SKIPPED: ${path} is not here; install linux-libc-dev to compare the numbers of ${arch}.`)
    return
  }
  const numbers = new Map(
    [...readFileSync(path, 'utf8').matchAll(/#define\s+__NR(?:3264)?_(\w+)\s+(\d+)/g)].map(([, name, nr]) => [
      name,
      Number(nr),
    ]),
  )
  const mine = named.filter((name) => !young.has(name)).map((name) => [name, syscallNumber(arch, name)])
  expect(mine).toEqual(mine.map(([name]) => [name, numbers.get(String(name)) ?? null]))
})

test('no number occurs twice, and no call is both forbidden and absent', () => {
  expect(new Set(named).size).toBe(named.length)
  for (const arch of ['x64', 'arm64'] as const) {
    const numbers = named.map((name) => syscallNumber(arch, name)).filter((nr) => nr !== null)
    expect(new Set(numbers).size).toBe(numbers.length)
  }
})
