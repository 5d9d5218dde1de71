import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHost } from '../src/index.ts'

const script = fileURLToPath(new URL('./fixtures/volume-host.ts', import.meta.url))
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('SKIPPED: no volumes are mounted: it takes root.')

function mountsBelow(data: string): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .filter((path) => path.startsWith(`${data}/`))
}

async function noLoopDevice(data: string): Promise<void> {
  const files = () =>
    execFileSync('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], { encoding: 'utf8' })
  while (files().includes(data)) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** The data directory of a host that was killed while a sandbox with a volume ran. */
async function killedHost(): Promise<string> {
  const data = mkdtempSync('/var/tmp/vitrine-volumes-')
  onTestFinished(() => {
    for (const mountPoint of mountsBelow(data)) execFileSync('umount', [mountPoint])
    rmSync(data, { recursive: true, force: true })
  })
  const child = spawn(process.execPath, [...flags, script, data], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), exited])
  child.kill('SIGKILL')
  await exited
  return data
}

describe.skipIf(!isRoot)('the volume of a sandbox whose host was killed', () => {
  it('is unmounted by the next host, and mounted again with its files', async () => {
    const data = await killedHost()
    expect(mountsBelow(data)).toHaveLength(1)
    await using host = await openHost({ data, install: 'never' })
    expect(mountsBelow(data)).toEqual([])
    await noLoopDevice(data)
    const sandbox = await host.attach('limited')
    expect((await sandbox.exec('cat kept')).stdout).toBe('kept\n')
    expect(sandbox.capabilities.limits).toContain('disk-exact')
    await host.close()
    expect(mountsBelow(data)).toEqual([])
    await noLoopDevice(data)
  })

  it('is removed when the stopped sandbox is destroyed', async () => {
    const data = await killedHost()
    await using host = await openHost({ data, install: 'never' })
    await host.destroy('limited')
    expect(existsSync(join(data, 'sandboxes/limited'))).toBe(false)
    expect(mountsBelow(data)).toEqual([])
    await noLoopDevice(data)
  })

  it('is not replaced by an empty one if its file is gone', async () => {
    const data = await killedHost()
    await using host = await openHost({ data, install: 'never' })
    rmSync(join(data, 'sandboxes/limited/disk.img'))
    await expect(host.attach('limited')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
  })
})
