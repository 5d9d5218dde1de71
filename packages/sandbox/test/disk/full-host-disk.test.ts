import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { mountPointsBelow } from '../../src/disk/mount-points.ts'
import { reasonWithoutVolumes } from '../../src/disk/volume.ts'
import { createLocalSandbox, local } from '../../src/index.ts'

const mib = 1024 ** 2

/** A data directory on a disk of its own. */
function smallDisk(megabytes: number): string {
  const data = mkdtempSync('/var/tmp/vitrine-small-')
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', data])
  onTestFinished(() => {
    for (const path of mountPointsBelow(data)) execFileSync('umount', [path])
    rmSync(data, { recursive: true, force: true })
  })
  return data
}

it.skipIf(reasonWithoutVolumes() !== undefined)(
  'a volume that cannot grow because the disk of the host is full refuses writes, and the journal says why',
  async () => {
    const data = smallDisk(24)
    const provider = local({ data, isolation: 'none', watch: false, limits: { diskBytes: 128 * mib } })
    const sandbox = await createLocalSandbox({ provider })
    onTestFinished(() => sandbox.close())
    await sandbox.exec('echo kept > kept; sync kept')
    // Synced, so that the disk of the host is full before the volume is: a write alone only fills memory.
    const result = await sandbox.exec(
      'while head -c 1000000 /dev/zero >> endless; do sync endless; done; exit 1',
    )
    expect(result).toMatchObject({ outcome: 'failed', limit: { limit: 'disk', max: 0 } })
    expect(result.stderr).toContain('Read-only file system')
    expect(result.limit?.message).toMatch(/disk of the host is full.*stop and start the sandbox/)
    const { events } = await sandbox.journal.read({ types: ['limit.reached'] })
    expect(events.map(({ data }) => data)).toContainEqual({
      limit: 'disk',
      max: 0,
      process: expect.any(String),
    })
    expect((await sandbox.exec('echo lost > lost')).outcome).toBe('failed')

    execFileSync('mount', ['-o', 'remount,size=128m', data])
    await sandbox.lifecycle.stop()
    await sandbox.lifecycle.start()
    expect((await sandbox.exec('cat kept; rm -f endless; echo new > new; sync new; cat new')).stdout).toBe(
      'kept\nnew\n',
    )
  },
)
