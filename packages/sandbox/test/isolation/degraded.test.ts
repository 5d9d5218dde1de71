import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { openHost, reasonToSkip } from './fixtures/open-host.ts'

describe.skipIf(reasonToSkip('self'))('on a machine without bwrap', () => {
  const programs = mkdtempSync(join(tmpdir(), 'vitrine-path-'))
  symlinkSync('/bin/sh', join(programs, 'sh'))
  afterAll(() => rmSync(programs, { recursive: true }))

  it('`auto` runs without isolation and reports a degradation for each affected option', async () => {
    await using host = openHost({ env: { PATH: programs } })
    const sandbox = await host.open({
      isolation: 'auto',
      egress: ['registry.example:443'],
      rootfs: 'writable',
    })
    expect(sandbox.capabilities).toMatchObject({ isolation: 'none', network: ['host'] })
    const degraded = await sandbox.events('sandbox.degraded')
    const features = degraded.map(({ data }) => data.feature)
    expect(features).toEqual(
      expect.arrayContaining(['bubblewrap', 'isolation', 'network', 'egress', 'rootfs']),
    )
    const why = degraded.find(({ data }) => data.feature === 'bubblewrap')?.data.reason
    expect(why).toContain('apt-get install bubblewrap')
  })

  it('`bubblewrap` is refused, naming the package', async () => {
    await using host = openHost({ env: { PATH: programs } })
    await expect(host.open({ isolation: 'bubblewrap' })).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: expect.stringContaining('apt-get install bubblewrap'),
    })
  })
})

describe.skipIf(reasonToSkip('self'))('in a container without user namespaces', () => {
  it('`bubblewrap` is refused, naming the options of the container', async () => {
    // Not below /tmp, which the host's build cannot see.
    const programs = mkdtempSync('/var/tmp/vitrine-path-')
    onTestFinished(() => rmSync(programs, { recursive: true }))
    chmodSync(programs, 0o755)
    const refusal = 'bwrap: No permissions to create new namespace'
    writeFileSync(join(programs, 'bwrap'), `#!/bin/sh\necho '${refusal}' >&2; exit 1\n`, { mode: 0o755 })
    await using host = openHost({ env: { PATH: `${programs}:/usr/bin:/bin` } })
    await expect(host.open({ isolation: 'bubblewrap' })).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: expect.stringContaining('--security-opt systempaths=unconfined'),
    })
  })
})

describe.skipIf(reasonToSkip('self'))('with bwrap', () => {
  it("records the host's network as a degradation", async () => {
    await using host = openHost()
    const sandbox = await host.open({ network: 'host' })
    expect(await sandbox.events('sandbox.degraded')).toMatchObject([
      { data: { feature: 'network', reason: expect.stringContaining('metadata') } },
    ])
    expect(await sandbox.output('readlink /proc/self/ns/net')).not.toBe('')
  })

  it('records no degradation in an ordinary sandbox of root', async () => {
    await using host = openHost()
    const sandbox = await host.open()
    expect(await sandbox.events('sandbox.degraded')).toEqual([])
  })

  it.each(['0', 'root', 'daemon', '70000', '-1', 'nobody-such'])(
    'user %s is unknown in a read-only system',
    async (user) => {
      await using host = openHost()
      const sandbox = await host.open()
      await expect(sandbox.exec('id', { user })).rejects.toMatchObject({ code: 'user_unknown' })
    },
  )

  it('rejects a data directory inside the workspace, by any path to it', async () => {
    await using host = openHost()
    const link = join(host.data, 'link')
    symlinkSync(join(host.data, 'project'), link)
    for (const data of [join(host.data, 'project', 'data'), join(link, 'data')])
      await expect(host.open({ root: join(host.data, 'project'), data })).rejects.toMatchObject({
        code: 'argument_invalid',
      })
  })
})
