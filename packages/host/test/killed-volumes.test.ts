import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { reasonWithoutVolumes } from '../../sandbox/src/disk/volume.ts'
import { createSandbox, local, openHost } from '../src/index.ts'

const script = fileURLToPath(new URL('./fixtures/volume-host.ts', import.meta.url))
const scriptWithVolume = fileURLToPath(new URL('./fixtures/volume-script.ts', import.meta.url))
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
const withoutVolumes = reasonWithoutVolumes()
if (withoutVolumes !== undefined) console.warn(`SKIPPED: no volume is mounted: ${withoutVolumes}.`)

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

/** A process with a sandbox that has a volume, and its data directory. */
async function startChild(file: string): Promise<{ child: ChildProcess; data: string; line: string }> {
  const data = mkdtempSync('/var/tmp/vitrine-volumes-')
  onTestFinished(() => {
    for (const mountPoint of mountsBelow(data)) execFileSync('umount', [mountPoint])
    rmSync(data, { recursive: true, force: true })
  })
  const child = spawn(process.execPath, [...flags, file, data], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const line = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  return { child, data, line: String(line[0]).trim() }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** The data directory of a host that was killed while a sandbox with a volume ran. */
async function killedHost(): Promise<string> {
  const { child, data } = await startChild(script)
  await kill(child)
  return data
}

describe.skipIf(withoutVolumes !== undefined)('the volume of a sandbox whose host was killed', () => {
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

describe.skipIf(withoutVolumes !== undefined)('the volume of a sandbox whose host was taken over', () => {
  it('is not unmounted under the next host', async () => {
    const { child, data } = await startChild(script)
    const exited = once(child, 'exit')
    await using host = await openHost({ data, install: 'never', takeover: true })
    const sandbox = await host.attach('limited')
    await exited
    expect(mountsBelow(data)).toHaveLength(1)
    expect(readFileSync(join(sandbox.root, 'kept'), 'utf8')).toBe('kept\n')
    await sandbox.files.write('more', 'x')
    expect((await sandbox.exec('cat kept more')).stdout).toBe('kept\nx')
    await host.destroy('limited')
    await noLoopDevice(data)
  })
})

describe.skipIf(withoutVolumes !== undefined)('the volume of a script that was killed', () => {
  it('is unmounted by the next script, and volumes of others stay', async () => {
    const dead = await startChild(scriptWithVolume)
    const other = await startChild(scriptWithVolume)
    const isMounted = ({ line }: { line: string }) =>
      mountsBelow(line.split('/sandboxes/')[0] ?? '').length > 0
    await kill(dead.child)
    expect([dead, other].map(isMounted)).toEqual([true, true])
    // The guard ends the processes of the dead script, which keep the volume in use.
    while (isMounted(dead)) await (await createSandbox({ provider: local({ isolation: 'none' }) })).close()
    expect(isMounted(other)).toBe(true)
    await kill(other.child)
    while (isMounted(other)) await (await createSandbox({ provider: local({ isolation: 'none' }) })).close()
    for (const { line } of [dead, other])
      rmSync(line.split('/sandboxes/')[0] ?? '', { recursive: true, force: true })
  })
})
