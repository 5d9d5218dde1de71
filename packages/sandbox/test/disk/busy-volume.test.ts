import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { mountPointsBelow } from '../../src/disk/mount-points.ts'
import { reasonWithoutVolumes } from '../../src/disk/volume.ts'
import { openSandbox } from '../fixtures/sandbox.ts'

const loopDevices = () =>
  execFileSync('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], { encoding: 'utf8' })

it.skipIf(reasonWithoutVolumes() !== undefined)(
  'a volume in which a program of the host still works is removed with its sandbox, and freed when that program ends',
  async () => {
    const sandbox = await openSandbox({
      isolation: 'none',
      watch: false,
      limits: { diskBytes: 32 * 1024 ** 2 },
    })
    const own = dirname(dirname(sandbox.root))
    const shell = spawn('sleep', ['1000'], { cwd: sandbox.root })
    await once(shell, 'spawn')
    await sandbox.lifecycle.destroy()
    expect(mountPointsBelow(own)).toEqual([])
    expect(existsSync(own)).toBe(false)
    expect(loopDevices()).toContain(own)
    shell.kill()
    while (loopDevices().includes(own)) await new Promise((resolve) => setTimeout(resolve, 20))
  },
)
