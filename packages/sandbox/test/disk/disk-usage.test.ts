import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DiskAccount } from '../../src/disk/disk-account.ts'
import { diskUsage } from '../../src/disk/disk-usage.ts'

function folder(): string {
  const path = mkdtempSync('/var/tmp/vitrine-usage-')
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const kib = (count: number) => 'x'.repeat(count * 1024)

describe('the disk space of folders', () => {
  it('is what du counts below them', async () => {
    const path = folder()
    mkdirSync(join(path, 'a/b'), { recursive: true })
    for (const name of ['one', 'a/two', 'a/b/three']) writeFileSync(join(path, name), kib(100))
    linkSync(join(path, 'one'), join(path, 'a/again'))
    symlinkSync('/usr', join(path, 'link'))
    writeFileSync(join(path, 'sparse'), '')
    truncateSync(join(path, 'sparse'), 1e9)
    const own = (await import('node:fs')).statSync(path).blocks * 512
    const du = Number(execFileSync('du', ['-s', '-B1', path], { encoding: 'utf8' }).split('\t')[0])
    expect(await diskUsage([path])).toBe(du - own)
    expect(await diskUsage([path, join(path, 'missing')])).toBe(du - own)
  })

  it('cannot be hidden in a tree that is too deep', async () => {
    const path = folder()
    mkdirSync(join(path, 'd/'.repeat(300)), { recursive: true })
    expect(await diskUsage([path])).toBe(Number.POSITIVE_INFINITY)
  })

  it.skipIf(process.getuid?.() !== 0).each([0o600, 0o300])(
    'cannot be hidden in a folder of mode %o from a host that is not root',
    async (mode) => {
      const path = folder()
      chmodSync(path, 0o777)
      process.seteuid!(65_534)
      try {
        mkdirSync(join(path, 'closed'))
        writeFileSync(join(path, 'closed/file'), kib(100))
        chmodSync(join(path, 'closed'), mode)
        expect(await diskUsage([path])).toBe(Number.POSITIVE_INFINITY)
      } finally {
        process.seteuid!(0)
      }
    },
  )
})

describe('an account', () => {
  it('is over its limit until files are deleted', async () => {
    const path = folder()
    const account = new DiskAccount([path], 200 * 1024)
    expect(await account.measure()).toBe(false)
    writeFileSync(join(path, 'large'), kib(400))
    expect(await account.measure()).toBe(true)
    expect(account.used).toBeGreaterThan(200 * 1024)
    rmSync(join(path, 'large'))
    expect(await account.measure()).toBe(false)
  })

  it('is not measured without a pause, unless the disk loses more than is left', async () => {
    const path = folder()
    const account = new DiskAccount([path], 2 * 1024 ** 2)
    expect(account.isDue(true)).toBe(true)
    await account.measure()
    expect(account.isDue(false)).toBe(false)
    writeFileSync(join(path, 'large'), kib(64 * 1024), { flush: true })
    expect(account.isDue(true)).toBe(true)
    await account.measure()
    expect({ isOver: account.isOver, isDue: account.isDue(false) }).toEqual({ isOver: true, isDue: false })
  })
})
