import { readFileSync } from 'node:fs'
import { unescapeMountPath } from '../cgroups/mounts.ts'

/** The mount points of this process at a folder or below it, the innermost first. */
export function mountPointsBelow(folder: string): string[] {
  let mountinfo: string
  try {
    mountinfo = readFileSync('/proc/self/mountinfo', 'utf8')
  } catch {
    return []
  }
  return parseMountPoints(mountinfo)
    .filter((path) => path === folder || path.startsWith(`${folder}/`))
    .toReversed()
}

/** Whether a file system is mounted at a folder. */
export function isMountPoint(folder: string): boolean {
  return mountPointsBelow(folder).includes(folder)
}

/** `36 35 98:0 /root /mount/point rw,noatime …` */
export function parseMountPoints(mountinfo: string): string[] {
  return mountinfo.split('\n').flatMap((line) => {
    const path = line.split(' ')[4]
    return path === undefined ? [] : [unescapeMountPath(path)]
  })
}
