import { dirname } from 'node:path'

/** A folder or file of the host that is mounted in the sandbox. */
export interface Mount {
  readonly source: string
  readonly target: string
  readonly writable: boolean
}

/** An entry of the system's root: a folder, or a link such as /bin. */
export interface SystemEntry {
  readonly path: string
  readonly link?: string
  /** The path of the sandbox's writable copy. */
  readonly copy?: string
}

export interface Layout {
  readonly system: readonly SystemEntry[]
  readonly mounts: readonly Mount[]
  readonly network: 'none' | 'host'
  /** Whether the sandbox has a writable system. */
  readonly changeable: boolean
  /** For a host without root: the ids that the host's user has inside. */
  readonly ownUser?: { readonly uid: number; readonly gid: number }
  readonly infoFd: number
  /** Size of each of /tmp, /var/tmp and /dev/shm; by default the kernel's, half of the memory. */
  readonly tmpBytes?: number
  readonly init: readonly string[]
}

/** /run holds mounts; only an ordinary host's sandbox may write there. */
const runBytes = 16 * 1024 * 1024

/** The arguments of `bwrap` for one sandbox. */
export function bubblewrapArguments(layout: Layout): string[] {
  const { system, mounts, network, changeable, ownUser, infoFd, init, tmpBytes } = layout
  const size = (bytes: number) =>
    tmpBytes === undefined ? [] : ['--size', String(Math.min(bytes, tmpBytes))]
  const inMemory = (path: string) => [...size(Number.POSITIVE_INFINITY), ...open('--tmpfs', path)]
  return [
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(network === 'none' ? ['--unshare-net'] : []),
    ...(ownUser === undefined
      ? ['--cap-drop', 'ALL']
      : ['--unshare-user', '--uid', String(ownUser.uid), '--gid', String(ownUser.gid), '--disable-userns']),
    ...['--die-with-parent', '--hostname', 'sandbox', '--as-pid-1', '--info-fd', String(infoFd)],
    ...system.flatMap(systemEntry),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...inMemory('/dev/shm'),
    ...inMemory('/tmp'),
    ...(changeable ? [] : [...folder('/var'), ...inMemory('/var/tmp')]),
    ...[...size(runBytes), '--perms', '0755', '--tmpfs', '/run'],
    // A mount below /root must be reachable, but /root itself stays unlistable.
    ...[
      '--perms',
      mounts.some(({ target }) => target.startsWith('/root/')) ? '0711' : '0700',
      '--dir',
      '/root',
    ],
    ...mounts.flatMap(({ source, target, writable }) => [
      ...parents(target).flatMap(folder),
      ...[writable ? '--bind' : '--ro-bind', source, target],
    ]),
    ...(changeable ? [] : ['--remount-ro', '/']),
    ...['--chdir', '/', '--', ...init],
  ]
}

function systemEntry({ path, link, copy }: SystemEntry): string[] {
  if (link !== undefined) return ['--symlink', link, path]
  return copy === undefined ? ['--ro-bind', path, path] : ['--bind', copy, path]
}

function open(kind: string, path: string): string[] {
  return ['--perms', '1777', kind, path]
}

function folder(path: string): string[] {
  return ['--perms', '0755', '--dir', path]
}

/** All parents from the top down, to create them with mode 0755: bubblewrap would create them for its own user only. */
function parents(path: string): string[] {
  const found: string[] = []
  for (let at = dirname(path); at !== '/' && at !== '.'; at = dirname(at)) found.unshift(at)
  return found
}
