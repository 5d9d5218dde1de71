export type CgroupVersion = 1 | 2

/** A cgroup file system as `/proc/self/mountinfo` shows it. */
export interface CgroupMount {
  readonly version: CgroupVersion
  /** The mount point. */
  readonly path: string
  /** The group that is mounted there; `/` unless a container sees only a part of the hierarchy. */
  readonly root: string
  /** The controllers of a v1 mount; v2 lists them in a file of each group. */
  readonly controllers: readonly string[]
  readonly writable: boolean
}

export function parseMounts(mountinfo: string): CgroupMount[] {
  return mountinfo.split('\n').flatMap(parseMount)
}

/** `36 35 98:0 /root /mount/point rw,noatime shared:1 - type source rw,superoptions` */
function parseMount(line: string): CgroupMount[] {
  const [left = '', right = ''] = line.split(' - ')
  const [, , , root = '', path = '', options = ''] = left.split(' ')
  const [type, , superOptions = ''] = right.split(' ')
  if (type !== 'cgroup' && type !== 'cgroup2') return []
  return [
    {
      version: type === 'cgroup2' ? 2 : 1,
      path: unescapeMountPath(path),
      root: unescapeMountPath(root),
      controllers:
        type === 'cgroup2' ? [] : superOptions.split(',').filter((option) => v1Controllers.has(option)),
      writable: options.split(',').includes('rw') && superOptions.split(',').includes('rw'),
    },
  ]
}

/** The v1 controllers that are used here; other mount options are other controllers, names and flags. */
const v1Controllers: ReadonlySet<string> = new Set(['memory', 'cpu', 'pids', 'freezer'])

/** Blank, tab, newline and backslash are written as `\040` and so on. */
export function unescapeMountPath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
