import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { reasonWithoutVolumes } from '../../src/disk/volume.ts'
import { createLocalSandbox, type LocalOptions, type LocalSandbox, local } from '../../src/index.ts'

const mib = 1024 ** 2

function dataFolder(): string {
  const data = mkdtempSync('/var/tmp/vitrine-other-')
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  return data
}

/** Runs a sandbox of the same id and data, and ends it. */
async function withSandbox<T>(
  data: string,
  diskBytes: number | undefined,
  use: (sandbox: LocalSandbox) => Promise<T>,
  more: LocalOptions = {},
): Promise<T> {
  const limits = diskBytes === undefined ? {} : { limits: { diskBytes } }
  const provider = local({ data, isolation: 'none', watch: false, ...limits, ...more })
  const sandbox = await createLocalSandbox({ id: 'same', provider })
  try {
    return await use(sandbox)
  } finally {
    await sandbox.close()
  }
}

const write = async ({ files }: LocalSandbox) => void (await files.write('kept', 'x'))
const read = async (sandbox: LocalSandbox) => (await sandbox.exec('cat kept')).stdout

describe('another limit of disk space for a sandbox that exists', () => {
  it.skipIf(reasonWithoutVolumes() !== undefined).each([
    ['a larger one', 64 * mib],
    ['a smaller one', 16 * mib],
    ['none', undefined],
  ])('is refused if the sandbox has a volume: %s', async (_, other) => {
    const data = dataFolder()
    await withSandbox(data, 32 * mib, write)
    const refused = withSandbox(data, other, read)
    await expect(refused).rejects.toMatchObject({
      code: 'argument_invalid',
      details: { limit: 'diskBytes', expected: 32 * mib },
    })
    await expect(refused).rejects.toThrow(/limits\.diskBytes: .*33554432.* got (none|\d+)/)
    expect(await withSandbox(data, 32 * mib, read)).toBe('x')
  })

  it('is refused if the sandbox had none', async () => {
    const data = dataFolder()
    await withSandbox(data, undefined, write)
    await expect(withSandbox(data, 32 * mib, read)).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('limits.diskBytes: '),
    })
    expect(await withSandbox(data, undefined, read)).toBe('x')
  })

  it('is allowed if the first start failed, which leaves nothing', async () => {
    const data = dataFolder()
    const path = process.env.PATH
    process.env.PATH = ''
    onTestFinished(() => {
      process.env.PATH = path
    })
    await expect(withSandbox(data, 32 * mib, write, { isolation: 'bubblewrap' })).rejects.toMatchObject({
      code: 'isolation_unavailable',
    })
    process.env.PATH = path
    expect(readdirSync(join(data, 'sandboxes'))).toEqual([])
    await withSandbox(data, undefined, write)
    expect(await withSandbox(data, undefined, read)).toBe('x')
  })

  it('holds from the next start on if the files are measured', async () => {
    const data = dataFolder()
    // As on a host that cannot mount volumes.
    mkdirSync(join(data, 'sandboxes/same/disk'), { recursive: true })
    await withSandbox(data, 32 * mib, write)
    const lower = await withSandbox(data, 16 * mib, async (sandbox) => [
      await read(sandbox),
      (await sandbox.exec('head -c 20000000 /dev/zero > large; sleep 1000')).limit?.max,
    ])
    expect(lower).toEqual(['x', 16 * mib])
    await expect(withSandbox(data, undefined, read)).rejects.toMatchObject({ code: 'argument_invalid' })
    expect(await withSandbox(data, 32 * mib, read)).toBe('x')
  })

  it('holds from the next start on in a workspace that the caller gave', async () => {
    const data = dataFolder()
    const root = join(dataFolder(), 'project')
    await withSandbox(data, undefined, write, { root })
    for (const limit of [16 * mib, 32 * mib, undefined])
      expect(await withSandbox(data, limit, read, { root })).toBe('x')
  })
})
