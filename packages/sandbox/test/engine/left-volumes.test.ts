import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { memoryStore, openStore } from '@vitrine/journal'
import { expect, it, onTestFinished } from 'vitest'
import { mountPointsBelow } from '../../src/disk/mount-points.ts'
import { mountVolume, reasonWithoutVolumes, volumeIn } from '../../src/disk/volume.ts'
import { unmountLeftVolumes } from '../../src/engine/left-volumes.ts'
import { createLocalSandbox, local } from '../../src/index.ts'

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

it.skipIf(reasonWithoutVolumes() !== undefined)(
  'a host that was taken over does not unmount a volume that the next one uses',
  async () => {
    const data = mkdtempSync('/var/tmp/vitrine-fenced-')
    onTestFinished(async () => {
      await unmountLeftVolumes(data)
      rmSync(data, { recursive: true, force: true })
    })
    const driver = memoryStore()
    const diskBytes = 32 * 1024 ** 2
    const provider = local({ data, isolation: 'none', watch: false, limits: { diskBytes } })
    const store = await openStore(driver)
    const lost = new Promise((resolve) => store.lost.addEventListener('abort', resolve))
    const sandbox = await createLocalSandbox({ id: 'same', store, provider })
    await using _next = await openStore(driver, { takeover: true })
    // The next host starts the sandbox while the first one has not noticed yet.
    expect(await mountVolume(volumeIn(join(data, 'sandboxes/same')), diskBytes)).toEqual({})
    await lost
    await sandbox.close().catch(() => undefined)
    expect(mountPointsBelow(data)).toHaveLength(1)
  },
)
