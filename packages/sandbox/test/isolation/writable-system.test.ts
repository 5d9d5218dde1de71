import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHost, reasonToSkip } from './fixtures/open-host.ts'

const reason =
  reasonToSkip('self', true) ??
  (spawnSync('dpkg-deb', ['--version']).status === 0 ? undefined : 'there is no dpkg')
if (reason) console.warn(`SKIPPED: no package is installed: ${reason}.`)
const root = { user: 'root' }

/** A package with one program, one setuid program and a script that runs as root. */
function buildPackage(target: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'vitrine-deb-'))
  for (const part of ['DEBIAN', 'usr/bin', 'etc/greeter']) mkdirSync(join(folder, part), { recursive: true })
  const control = [
    'Package: vitrine-greeter',
    'Version: 1',
    'Architecture: all',
    'Maintainer: x <x@example.org>',
    'Description: x',
    '',
  ]
  writeFileSync(join(folder, 'DEBIAN/control'), control.join('\n'))
  writeFileSync(
    join(folder, 'DEBIAN/postinst'),
    '#!/bin/sh\nset -e\nid -u > /etc/greeter/installed-by\nchown daemon /etc/greeter\n',
  )
  writeFileSync(join(folder, 'usr/bin/vitrine-greeter'), '#!/bin/sh\necho hello from a package\n')
  for (const file of ['DEBIAN/postinst', 'usr/bin/vitrine-greeter']) chmodSync(join(folder, file), 0o755)
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', folder, target], { stdio: 'ignore' })
  rmSync(folder, { recursive: true })
}

describe.skipIf(reason)('a writable system', () => {
  it('installs a package as root for all users, and discards it at the next start', async () => {
    await using host = openHost()
    const sandbox = await host.open({ rootfs: 'writable' })
    buildPackage(join(sandbox.root, 'greeter.deb'))
    const installed = await sandbox.exec('dpkg -i greeter.deb', root)
    expect([installed.exitCode, installed.stderr]).toEqual([0, expect.any(String)])
    expect(
      await sandbox.output('vitrine-greeter; cat /etc/greeter/installed-by; stat -c %U /etc/greeter'),
    ).toBe('hello from a package\n0\ndaemon')
    expect(spawnSync('dpkg', ['-s', 'vitrine-greeter']).status).not.toBe(0)
    expect(spawnSync('which', ['vitrine-greeter']).status).not.toBe(0)
    await sandbox.restart()
    expect(await sandbox.output('vitrine-greeter 2>/dev/null; dpkg -s vitrine-greeter 2>/dev/null; ls')).toBe(
      'greeter.deb',
    )
  })

  it('changes no accounts or programs of the host', async () => {
    await using host = openHost()
    const sandbox = await host.open({ rootfs: 'writable' })
    const changed = await sandbox.exec(
      'useradd -m vitrine-somebody && rm -rf /usr/share/doc && echo "root::0:0::/root:/bin/sh" > /etc/passwd && ls /usr/share/doc',
      root,
    )
    expect(changed.exitCode).not.toBe(0)
    expect(spawnSync('id', ['vitrine-somebody']).status).not.toBe(0)
    expect(spawnSync('ls', ['/usr/share/doc']).status).toBe(0)
    expect(execFileSync('head', ['-1', '/etc/passwd'], { encoding: 'utf8' })).not.toContain('root::0')
  })

  it('has other users, none of them privileged', async () => {
    await using host = openHost()
    const sandbox = await host.open({ rootfs: 'writable' })
    expect(await sandbox.output('id -un; grep CapEff /proc/self/status', { user: 'daemon' })).toBe(
      'daemon\nCapEff:\t0000000000000000',
    )
    await expect(sandbox.exec('id', { user: '70000' })).rejects.toMatchObject({ code: 'user_unknown' })
  })

  it('gives an ordinary host no root, and reports it', async () => {
    await using host = openHost({ as: 'ordinary' })
    const sandbox = await host.open({ rootfs: 'writable' })
    expect(await sandbox.events('sandbox.degraded')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ data: expect.objectContaining({ feature: 'rootfs' }) }),
      ]),
    )
    await expect(sandbox.exec('id', root)).rejects.toMatchObject({ code: 'user_unknown' })
  })
})
