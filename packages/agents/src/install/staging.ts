import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Where one installation is put together: on the cache's file system, and gone with it. */
export interface Staging extends AsyncDisposable {
  readonly folder: string
  /** What becomes the installation. */
  readonly tree: string
  /** What sandboxes keep of their own. */
  readonly data: string
  /** A new empty folder. */
  partFolder(name: string): Promise<string>
}

const stagingName = '.staging'
const abandonedMs = 6 * 60 * 60 * 1_000

export async function openStaging(cache: string, name: string): Promise<Staging> {
  const all = join(cache, stagingName)
  await removeAbandoned(all)
  const folder = join(all, `${name}-${process.pid}-${randomBytes(6).toString('hex')}`)
  const room = async (part: string) => {
    const path = join(folder, part)
    await mkdir(path, { recursive: true, mode: 0o755 })
    return path
  }
  return {
    folder,
    tree: await room('tree'),
    data: await room('data'),
    partFolder: room,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** What a host that was killed left behind, once nobody can be at work in it. */
async function removeAbandoned(all: string): Promise<void> {
  for (const name of await readdir(all).catch(() => [])) {
    const pid = Number(/-(\d+)-[0-9a-f]+$/.exec(name)?.[1])
    const path = join(all, name)
    const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now())
    if (age > abandonedMs && !isAlive(pid))
      await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
