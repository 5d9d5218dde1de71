import type { CgroupMount, CgroupVersion } from './mounts.ts'
import type { Positions } from './positions.ts'

/** One cgroup hierarchy, and the folders under which groups might be created: nearest to this process first. */
export interface Hierarchy {
  readonly version: CgroupVersion
  readonly controllers: readonly string[]
  readonly writable: boolean
  readonly folders: readonly string[]
}

/** The hierarchies to probe. v2 comes first: its kernel interface freezes and kills whole trees. */
export function hierarchies(mounts: readonly CgroupMount[], positions: Positions): Hierarchy[] {
  const useful = mounts.filter(({ version, controllers }) => version === 2 || controllers.length > 0)
  const chosen = new Map<string, CgroupMount>()
  for (const mount of useful) {
    const key = mount.controllers.join()
    const earlier = chosen.get(key)
    if (earlier === undefined || (mount.writable && !earlier.writable)) chosen.set(key, mount)
  }
  return [...chosen.values()]
    .sort((a, b) => b.version - a.version)
    .map((mount) => ({
      version: mount.version,
      controllers: mount.controllers,
      writable: mount.writable,
      folders: foldersUp(mount, positions.get(mount.controllers[0] ?? '') ?? '/'),
    }))
}

/** The folders from this process's group up to the mount point; only the mount point if that group is not visible. */
function foldersUp(mount: CgroupMount, position: string): string[] {
  const inside = relativeTo(mount.root, position)
  const folders = [mount.path]
  for (const part of inside.split('/').filter((name) => name !== ''))
    folders.unshift(`${folders[0] === '/' ? '' : folders[0]}/${part}`)
  return folders
}

function relativeTo(root: string, position: string): string {
  if (position.split('/').includes('..')) return ''
  if (root === '/') return position
  return position === root || position.startsWith(`${root}/`) ? position.slice(root.length) : ''
}
