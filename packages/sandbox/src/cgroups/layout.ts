import type { CgroupMount, CgroupVersion } from './mounts.ts'
import type { Positions } from './positions.ts'

/** One tree of groups, and the folders in it under which ours may be made: nearest to this process first. */
export interface Hierarchy {
  readonly version: CgroupVersion
  readonly controllers: readonly string[]
  readonly writable: boolean
  readonly folders: readonly string[]
}

/** What there is to try. v2 comes first: it freezes and kills whole trees by itself. */
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

/** From the group this process is in up to the mount point, which is all that can be seen of one elsewhere. */
function foldersUp(mount: CgroupMount, position: string): string[] {
  const inside = within(mount.root, position)
  const folders = [mount.path]
  for (const part of inside.split('/').filter((name) => name !== ''))
    folders.unshift(`${folders[0] === '/' ? '' : folders[0]}/${part}`)
  return folders
}

function within(root: string, position: string): string {
  if (position.split('/').includes('..')) return ''
  if (root === '/') return position
  return position === root || position.startsWith(`${root}/`) ? position.slice(root.length) : ''
}
