import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { isGone } from './file-errors.ts'
import type { Limit } from './limits.ts'
import type { CgroupVersion } from './mounts.ts'
import { waitUntil } from './wait-until.ts'

/** A folder under which groups can be created, and, for v2, the controllers to enable for them. */
export interface GroupFolder {
  readonly version: CgroupVersion
  readonly folder: string
  readonly controllers: readonly Limit[]
}

/** The parent folder of the groups of all hosts, created with the first group and removed with the last. */
const parentName = 'vitrine'

export function groupsParent({ folder }: GroupFolder): string {
  return join(folder, parentName)
}

const attempts = 20

/** Creates the folder of a group. Retries if another host removes the parent folder in between. */
export async function makeFolder(root: GroupFolder, name: string): Promise<string> {
  const parent = groupsParent(root)
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(parent).catch(ignoring('EEXIST'))
      if (root.version === 2 && root.controllers.length > 0) await enable(parent, root.controllers)
      const folder = join(parent, name)
      await mkdir(folder)
      return folder
    } catch (error) {
      if (attempt < attempts && isGone(error)) continue
      await rmdir(parent).catch(() => {})
      throw error
    }
  }
}

/** Enables controllers for the groups below a v2 group. */
export function enable(folder: string, controllers: readonly string[]): Promise<void> {
  return writeFile(join(folder, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '))
}

/** The child groups of a group, which are its only subfolders. */
export async function subfolders(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

const removalMs = 5_000

/** Removes an empty group and all groups below it. Retries, since processes that just died keep it busy for a moment. */
export async function removeFolder(folder: string): Promise<void> {
  await waitUntil(() => removed(folder), { timeoutMs: removalMs, what: `Removing ${folder}` })
}

/** Removes a group that `makeFolder` created, and the parent folder if it was the last group. */
export async function unmakeFolder(folder: string): Promise<void> {
  await removeFolder(folder)
  await rmdir(dirname(folder)).catch(ignoring('ENOTEMPTY', 'EBUSY', 'ENOENT'))
}

async function removed(folder: string): Promise<boolean> {
  for (const below of await subfolders(folder)) if (!(await removed(below))) return false
  try {
    await rmdir(folder)
    return true
  } catch (error) {
    if (isGone(error)) return true
    if (systemErrorCode(error) === 'EBUSY' || systemErrorCode(error) === 'ENOTEMPTY') return false
    throw error
  }
}

function ignoring(...codes: string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(systemErrorCode(error) ?? '')) throw error
  }
}
