import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mountPointsBelow } from '../../src/disk/mount-points.ts'
import { reasonWithoutVolumes } from '../../src/disk/volume.ts'
import { createLocalSandbox, type LocalSandbox, local } from '../../src/index.ts'
import { openSandbox } from '../fixtures/sandbox.ts'

const mib = 1024 ** 2
const diskBytes = 32 * mib
const isolations = ['bubblewrap', 'none'] as const
const withoutVolumes = reasonWithoutVolumes()
if (withoutVolumes !== undefined) console.warn(`SKIPPED: no volume is mounted: ${withoutVolumes}.`)

async function reached(sandbox: LocalSandbox) {
  const { events } = await sandbox.journal.read({ types: ['limit.reached'] })
  return events.map(({ data }) => data)
}

function temporaryFolder(): string {
  const path = mkdtempSync('/var/tmp/vitrine-disk-')
  onTestFinished(() => {
    for (const mountPoint of mountPointsBelow(path)) execFileSync('umount', [mountPoint])
    rmSync(path, { recursive: true, force: true })
  })
  return path
}

/** The kernel frees a loop device when the last mount namespace that has it is gone, shortly after the processes. */
async function noLoopDevice(folder: string): Promise<void> {
  while (loopDevices().includes(folder)) await new Promise((resolve) => setTimeout(resolve, 20))
}

function loopDevices(): string {
  return execFileSync('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], { encoding: 'utf8' })
}

describe.skipIf(withoutVolumes !== undefined).each(isolations)(
  'an exact limit of disk space (%s)',
  (isolation) => {
    const open = () => openSandbox({ isolation, watch: false, limits: { diskBytes } })

    it('stops a write without end, names itself, and lets the sandbox go on', async () => {
      const sandbox = await open()
      expect(sandbox.capabilities.limits).toContain('disk-exact')
      const result = await sandbox.exec('cat /dev/zero > endless')
      expect(result).toMatchObject({ outcome: 'failed', limit: { limit: 'diskBytes', max: diskBytes } })
      expect(result.limit?.message).toContain('local.limits.diskBytes')
      expect(result.stderr).toContain('No space left')
      expect(await reached(sandbox)).toEqual([
        { limit: 'diskBytes', max: diskBytes, process: expect.any(String) },
      ])
      const image = join(dirname(dirname(sandbox.root)), 'disk.img')
      expect(statSync(image).blocks * 512).toBeLessThanOrEqual(diskBytes)
      await expect(sandbox.files.write('more', Buffer.alloc(4 * mib))).rejects.toMatchObject({
        code: 'disk_limit',
        message: `more: no space left on the disk. The sandbox may hold ${diskBytes} bytes (diskBytes).`,
      })
      await sandbox.files.remove('endless')
      expect(await sandbox.exec('head -c 8000000 /dev/zero > fits && wc -c < fits')).toMatchObject({
        outcome: 'ok',
        stdout: '8000000\n',
      })
    })

    it('counts HOME too', async () => {
      const sandbox = await open()
      expect(await sandbox.exec('cat /dev/zero > ~/endless')).toMatchObject({
        outcome: 'failed',
        limit: { limit: 'diskBytes' },
      })
      expect((await sandbox.exec('head -c 1000000 /dev/zero > here')).outcome).toBe('failed')
    })

    it('keeps the files over a stop, and leaves no mount and no loop device', async () => {
      const sandbox = await open()
      const own = dirname(dirname(sandbox.root))
      await sandbox.files.write('kept', 'x')
      await sandbox.lifecycle.stop()
      expect(mountPointsBelow(own)).toEqual([])
      await noLoopDevice(own)
      await sandbox.lifecycle.start()
      expect((await sandbox.exec('cat kept')).stdout).toBe('x')
      expect(mountPointsBelow(own)).toHaveLength(1)
      await sandbox.lifecycle.destroy()
      expect(mountPointsBelow(own)).toEqual([])
      await noLoopDevice(own)
      expect(existsSync(own)).toBe(false)
    })

    it('frees the disk of a sandbox while another one runs', async () => {
      const sandbox = await open()
      const other = await open()
      const own = dirname(dirname(sandbox.root))
      await sandbox.lifecycle.destroy()
      await noLoopDevice(own)
      expect((await other.exec('echo on')).stdout).toBe('on\n')
    })

    it('does not run a sandbox whose disk cannot be mounted', async () => {
      const data = temporaryFolder()
      const provider = local({ data, isolation, watch: false, limits: { diskBytes } })
      const sandbox = await createLocalSandbox({ id: 'damaged', provider })
      await sandbox.close()
      execFileSync('truncate', ['-s', '0', join(data, 'sandboxes/damaged/disk.img')])
      await expect(createLocalSandbox({ id: 'damaged', provider })).rejects.toMatchObject({
        code: 'restriction_unavailable',
      })
      expect(mountPointsBelow(data)).toEqual([])
    })

    it('uses a volume that a dead host left mounted', async () => {
      const data = temporaryFolder()
      const provider = local({ data, isolation, watch: false, limits: { diskBytes } })
      const first = await createLocalSandbox({ id: 'left', provider })
      await first.files.write('kept', 'x')
      await first.close()
      const own = join(data, 'sandboxes/left')
      execFileSync('mount', ['-o', 'loop', join(own, 'disk.img'), join(own, 'disk')])
      const second = await createLocalSandbox({ id: 'left', provider })
      expect((await second.exec('cat kept')).stdout).toBe('x')
      await second.lifecycle.destroy()
      expect(mountPointsBelow(data)).toEqual([])
      await noLoopDevice(data)
    })
  },
)

describe.skipIf(withoutVolumes !== undefined)('an exact limit of disk space', () => {
  it('holds for the changes to a writable system', async () => {
    const sandbox = await openSandbox({
      isolation: 'bubblewrap',
      rootfs: 'writable',
      watch: false,
      limits: { diskBytes },
    })
    const result = await sandbox.exec('cat /dev/zero > /usr/endless', { user: 'root' })
    expect(result).toMatchObject({ outcome: 'failed', limit: { limit: 'diskBytes' } })
  })

  it('gives a manifest that failed no space', async () => {
    const data = temporaryFolder()
    const provider = local({ data, limits: { diskBytes }, watch: false })
    const workspace = { files: { a: 'x' }, setup: ['false'] }
    const failing = createLocalSandbox({ id: 'failing', provider, workspace })
    await expect(failing).rejects.toMatchObject({ code: 'setup_failed' })
    expect(mountPointsBelow(data)).toEqual([])
    expect(readdirSync(join(data, 'sandboxes'))).toEqual([])
    const sandbox = await createLocalSandbox({ id: 'failing', provider, workspace: { files: { b: 'x' } } })
    expect(await sandbox.exec('ls')).toMatchObject({ stdout: 'b\n' })
    await sandbox.lifecycle.destroy()
  })
})

describe.each(isolations)('an accounted limit of disk space (%s)', (isolation) => {
  const open = (more: { readonly binds?: { source: string; writable: boolean }[] } = {}) => {
    const root = join(temporaryFolder(), 'project')
    return openSandbox({ isolation, root, watch: false, limits: { diskBytes: 16 * mib }, ...more })
  }
  /** Writes 64 MiB and waits to be ended. */
  const fill = 'head -c 67108864 /dev/zero > large; sleep 1000'

  it('ends the processes of a sandbox that is over it, and refuses others until files are deleted', async () => {
    const sandbox = await open()
    expect(sandbox.capabilities.limits).toContain('disk-accounted')
    const left = await sandbox.exec('sleep 1000 > /dev/null 2>&1 & echo $!')
    expect(await sandbox.exec(fill)).toMatchObject({
      outcome: 'failed',
      signal: 'SIGKILL',
      limit: { limit: 'diskBytes', max: 16 * mib },
    })
    expect(await reached(sandbox)).toEqual([
      expect.objectContaining({
        limit: 'diskBytes',
        max: 16 * mib,
        process: expect.any(String),
        ended: expect.any(Number),
      }),
    ])
    const refused = sandbox.exec('echo on')
    await expect(refused).rejects.toMatchObject({ code: 'disk_limit' })
    await expect(refused).rejects.toThrow(/16777216/)
    await sandbox.files.remove('large')
    expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
    expect((await sandbox.exec(`kill -0 ${left.stdout}`)).exitCode).not.toBe(0)
  })

  it('counts deleted files that a process has open', async () => {
    const sandbox = await open()
    const hidden = 'exec 3> hidden; rm hidden; head -c 67108864 /dev/zero >&3; sleep 1000'
    expect(await sandbox.exec(hidden)).toMatchObject({
      outcome: 'failed',
      limit: { limit: 'diskBytes', max: 16 * mib },
    })
    expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
  })

  it('refuses commands after a restart too', async () => {
    const sandbox = await open()
    await sandbox.exec(fill)
    await sandbox.lifecycle.stop()
    await sandbox.lifecycle.start()
    await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'disk_limit' })
    await sandbox.files.remove('large')
    expect((await sandbox.exec('true')).exitCode).toBe(0)
  })

  it('does not harm the host or another sandbox', async () => {
    const sandbox = await open()
    const other = await open()
    const process = await other.spawn('exec sleep 1000')
    await sandbox.exec(fill)
    expect((await other.exec('echo on')).stdout).toBe('on\n')
    expect(await other.processes.get(process.id)).toMatchObject({ state: 'running' })
  })

  it.runIf(isolation === 'bubblewrap')('counts folders that are bound for writing', async () => {
    const source = temporaryFolder()
    mkdirSync(join(source, 'd'), { mode: 0o777 })
    execFileSync('chmod', ['-R', '777', source])
    const sandbox = await open({ binds: [{ source, writable: true }] })
    expect(await sandbox.exec(fill, { cwd: source })).toMatchObject({ limit: { limit: 'diskBytes' } })
  })
})

describe('the folders in memory', () => {
  it.each(['/tmp', '/dev/shm', '/var/tmp'])(
    '%s has a size, and names its limit when it is full',
    async (folder) => {
      const sandbox = await openSandbox({
        isolation: 'bubblewrap',
        watch: false,
        limits: { tmpBytes: 8 * mib },
      })
      expect(sandbox.capabilities.limits).toContain('tmp')
      const result = await sandbox.exec(`cat /dev/zero > ${folder}/endless`)
      expect(result).toMatchObject({ outcome: 'failed', limit: { limit: 'tmpBytes', max: 8 * mib } })
      expect(await reached(sandbox)).toMatchObject([{ limit: 'tmpBytes', max: 8 * mib }])
      expect((await sandbox.exec(`rm ${folder}/endless; echo x > ${folder}/y`)).outcome).toBe('ok')
    },
  )

  it('are smaller than the memory that the sandbox may use', async () => {
    const sandbox = await openSandbox({
      isolation: 'bubblewrap',
      watch: false,
      limits: { memoryBytes: 64 * mib },
    })
    const sizes = await sandbox.exec('stat -f -c "%b %S" /tmp /dev/shm /var/tmp')
    const bytes = sizes.stdout
      .trim()
      .split('\n')
      .map((line) =>
        line
          .split(' ')
          .map(Number)
          .reduce((a, b) => a * b),
      )
    expect(bytes).toEqual([16 * mib, 16 * mib, 16 * mib])
  })

  it('are no way around the limit of disk space', async () => {
    const sandbox = await openSandbox({
      isolation: 'bubblewrap',
      watch: false,
      limits: { diskBytes: 16 * mib },
    })
    const { stdout } = await sandbox.exec('stat -f -c "%b %S" /tmp')
    expect(
      stdout
        .split(' ')
        .map(Number)
        .reduce((a, b) => a * b),
    ).toBe(16 * mib)
  })
})
