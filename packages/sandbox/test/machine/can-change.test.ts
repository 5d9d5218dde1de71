import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { canChange } from '../../src/machine/can-change.ts'

const folder = mkdtempSync('/var/tmp/vitrine-can-change-')
const own = { uid: process.getuid!(), gids: process.getgroups!() }
const other = { uid: 12_345, gids: [12_345] }

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function made(name: string, mode: number): string {
  const path = join(folder, name)
  mkdirSync(path)
  chmodSync(path, mode)
  return path
}

describe('a user can change', () => {
  it('a folder of its own, whatever its mode, and what is in it', () => {
    const path = made('own', 0o555)
    expect(canChange(path, own)).toBe(true)
    expect(canChange(join(path, 'program'), own)).toBe(true)
    expect(canChange(path, other)).toBe(false)
  })

  it('a folder that everyone or one of its groups may write to', () => {
    expect(canChange(made('everyone', 0o757), other)).toBe(true)
    expect(canChange(made('sticky', 0o1777), other)).toBe(true)
    const ofGroup = made('group', 0o775)
    expect(canChange(ofGroup, { uid: 12_345, gids: [own.gids[0] ?? 0, 12_345] })).toBe(true)
    expect(canChange(ofGroup, other)).toBe(false)
  })

  it('a folder below one that it may write to, but not below a sticky one', () => {
    const inEveryone = join(made('outer', 0o777), 'inner')
    mkdirSync(inEveryone, { mode: 0o755 })
    expect(canChange(inEveryone, other)).toBe(true)
    const inSticky = join(made('outer-sticky', 0o1777), 'inner')
    mkdirSync(inSticky, { mode: 0o755 })
    expect(canChange(inSticky, other)).toBe(false)
  })

  it('a link to such a folder, but not every link', () => {
    const target = made('target', 0o777)
    const links = made('links', 0o755)
    symlinkSync(target, join(links, 'open'))
    symlinkSync('/usr/bin', join(links, 'system'))
    expect(canChange(join(links, 'open'), other)).toBe(true)
    expect(canChange(join(links, 'system'), other)).toBe(false)
  })

  it.runIf(own.uid === 0)('no system folder as another user, and as root everything but those', () => {
    expect(canChange('/usr/bin', other)).toBe(false)
    expect(canChange('/usr/local/bin', own)).toBe(false)
    expect(canChange('/opt/tools/bin', own)).toBe(true)
    const path = made('given', 0o755)
    chownSync(path, other.uid, other.uid)
    writeFileSync(join(path, 'program'), '')
    expect(canChange(path, other)).toBe(true)
  })
})
