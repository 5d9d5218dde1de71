import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mountPointsBelow } from '../../src/disk/mount-points.ts'
import { reasonWithoutVolumes } from '../../src/disk/volume.ts'
import { createLocalSandbox, local, unmountLeftVolumes } from '../../src/index.ts'

const script = fileURLToPath(new URL('./fixtures/first-start.ts', import.meta.url))
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
const diskBytes = 32 * 1024 ** 2
const withoutVolumes = reasonWithoutVolumes()
if (withoutVolumes !== undefined) console.warn(`SKIPPED: no volume is mounted: ${withoutVolumes}.`)

function dataFolder(): string {
  const data = mkdtempSync('/var/tmp/vitrine-killed-')
  onTestFinished(async () => {
    await unmountLeftVolumes(data)
    rmSync(data, { recursive: true, force: true })
  })
  return data
}

/** Replaces a program by a script that kills the host that runs it, before or after the real program. */
function killing(data: string, program: string, when: 'before' | 'after'): string {
  const folder = join(data, 'programs')
  mkdirSync(folder)
  const real = `PATH=/usr/sbin:/sbin:/usr/bin:/bin ${program} "$@"`
  const steps = when === 'before' ? ['kill -9 $PPID'] : [real, 'kill -9 $PPID']
  writeFileSync(join(folder, program), ['#!/bin/sh', ...steps, ''].join('\n'))
  chmodSync(join(folder, program), 0o755)
  return `${folder}:${process.env.PATH}`
}

/** Replaces a program by one that fails. */
function failing(data: string, program: string): string {
  const path = killing(data, program, 'before')
  writeFileSync(join(data, 'programs', program), '#!/bin/sh\necho no loop device is left >&2\nexit 1\n')
  return path
}

async function runFirstStart(data: string, path: string, manifest: string): Promise<string | null> {
  const child = spawn(process.execPath, [...flags, script, data, manifest], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PATH: path },
  })
  const [, signal] = await once(child, 'exit')
  return signal
}

describe.skipIf(withoutVolumes !== undefined)('a first start that was killed', () => {
  it.each([
    ['before', 'mkfs.ext4', 'manifest'],
    ['after', 'mkfs.ext4', 'manifest'],
    ['before', 'mount', 'manifest'],
    ['after', 'mount', 'manifest'],
    ['after', 'mkfs.ext4', 'no manifest'],
    ['after', 'mount', 'no manifest'],
  ] as const)('%s %s is done again, with a volume (%s)', async (when, program, manifest) => {
    const data = dataFolder()
    expect(await runFirstStart(data, killing(data, program, when), manifest)).toBe('SIGKILL')
    const sandbox = await createLocalSandbox({
      id: 'killed',
      provider: local({ data, isolation: 'none', watch: false, limits: { diskBytes } }),
      ...(manifest === 'manifest' && { workspace: { files: { prepared: 'x' } } }),
    })
    expect(sandbox.capabilities.limits).toContain('disk-exact')
    expect((await sandbox.exec('ls')).stdout).toBe(manifest === 'manifest' ? 'prepared\n' : '')
    expect(readdirSync(join(data, 'sandboxes/killed')).toSorted()).toEqual(['disk', 'disk.img', 'state'])
    await sandbox.lifecycle.destroy()
    expect(mountPointsBelow(data)).toEqual([])
  })

  it('before a mount that fails runs again where nothing can be mounted, and says why', async () => {
    const data = dataFolder()
    expect(await runFirstStart(data, killing(data, 'mount', 'before'), 'no manifest')).toBe('SIGKILL')
    rmSync(join(data, 'programs'), { recursive: true })
    const path = process.env.PATH
    process.env.PATH = failing(data, 'mount')
    onTestFinished(() => {
      process.env.PATH = path
    })
    const sandbox = await createLocalSandbox({
      id: 'killed',
      provider: local({ data, isolation: 'none', watch: false, limits: { diskBytes } }),
    })
    onTestFinished(() => sandbox.close())
    expect(sandbox.capabilities.limits).toContain('disk-accounted')
    const { events } = await sandbox.journal.read({ types: ['sandbox.degraded'] })
    expect(events.map(({ data }) => data)).toContainEqual({
      feature: 'disk-exact',
      reason: 'no loop device is left',
    })
  })
})
