import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { unmountLeftVolumes } from '../../src/disk/left-volumes.ts'
import { mountPointsBelow } from '../../src/disk/mount-points.ts'
import { mountVolume, reasonWithoutVolumes, volumeIn } from '../../src/disk/volume.ts'

it.skipIf(reasonWithoutVolumes() !== undefined)(
  'volumes that a dead host left are unmounted, and mounts of the operator stay',
  async () => {
    const data = mkdtempSync('/var/tmp/vitrine-left-')
    const sandboxes = join(data, 'sandboxes')
    mkdirSync(sandboxes)
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', sandboxes])
    const [own, inside] = [join(sandboxes, 'sbx_1'), join(sandboxes, 'sbx_2/workspace/disk')]
    onTestFinished(() => {
      for (const path of mountPointsBelow(data)) execFileSync('umount', [path])
      rmSync(data, { recursive: true, force: true })
    })
    for (const path of [own, inside]) mkdirSync(path, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', inside])
    expect(await mountVolume(volumeIn(own), 32 * 1024 ** 2)).toEqual({})
    expect(mountPointsBelow(data)).toContain(volumeIn(own).mountPoint)
    await unmountLeftVolumes(data)
    expect(mountPointsBelow(data).toSorted()).toEqual([sandboxes, inside].toSorted())
  },
)
