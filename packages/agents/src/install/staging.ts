import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemErrorCode } from '@vitrine/protocol/primitives'

/** The temporary folder of one installation, on the cache's file system so that the result can be renamed. */
export interface InstallStaging extends AsyncDisposable {
  readonly folder: string
  /** The folder that becomes the installation. */
  readonly tree: string
  /** Data directory of the sandboxes that install it. */
  readonly data: string
  /** Creates an empty folder. */
  partFolder(name: string): Promise<string>
}

const stagingName = '.staging'
const abandonedMs = 6 * 60 * 60 * 1_000

export async function openStaging(cache: string, name: string): Promise<InstallStaging> {
  const stagingRoot = join(cache, stagingName)
  await removeAbandoned(stagingRoot)
  const folder = join(stagingRoot, `${name}-${process.pid}-${randomBytes(6).toString('hex')}`)
  const partFolder = async (part: string) => {
    const path = join(folder, part)
    await mkdir(path, { recursive: true, mode: 0o755 })
    return path
  }
  return {
    folder,
    tree: await partFolder('tree'),
    data: await partFolder('data'),
    partFolder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** Removes folders of killed hosts: older than six hours, and the process no longer exists. */
async function removeAbandoned(stagingRoot: string): Promise<void> {
  for (const name of await readdir(stagingRoot).catch(() => [])) {
    const pid = Number(/-(\d+)-[0-9a-f]+$/.exec(name)?.[1])
    const path = join(stagingRoot, name)
    const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now())
    if (age > abandonedMs && !isAlive(pid))
      await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemErrorCode(error) === 'EPERM'
  }
}
