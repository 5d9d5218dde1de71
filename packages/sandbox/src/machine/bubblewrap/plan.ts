import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { groupFile, passwdFile, sandboxUser } from './accounts.ts'
import { bubblewrapArguments, type Mount, type SystemEntry } from './layout.ts'
import { hostFile, resolverFile, systemEntries } from './system.ts'

/** The options of a machine to build. */
export interface BuildOptions {
  readonly root: string
  /** Whether Vitrine created the workspace, so that only this sandbox uses it. */
  readonly managed: boolean
  /** Whether HOME is a folder that the caller gave. */
  readonly homeGiven: boolean
  /** The path of HOME on the host. */
  readonly home: string
  /** A folder that only the host may read. */
  readonly state: string
  /** The folder of the changes to a writable system. */
  readonly system: string
  readonly network: 'none' | 'host'
  readonly rootfs: 'read-only' | 'writable'
  readonly binds: readonly Mount[]
  /** Size of each file system in memory that commands may write to. */
  readonly tmpBytes?: number | undefined
}

/** The programs that building a machine needs. */
export interface Tools {
  /** `vitrine-machine`. */
  readonly program: string
  readonly bubblewrap: string
}

/** The command line that builds a machine and then becomes its first process. */
export interface BuildPlan {
  readonly file: string
  readonly args: readonly string[]
}

/** The descriptors between the host and the machine it builds. */
export const buildFds = { go: 0, info: 3, ready: 4 } as const

const programInside = '/run/vitrine/machine'

/** The path of HOME inside: the same for all sandboxes, unless that would be below the workspace. */
export function homeInside(root: string): string {
  return '/home/sandbox'.startsWith(`${root}/`) ? '/var/home/sandbox' : '/home/sandbox'
}

/** The plan for a host without root: the sandbox's user is the host's user under another name. */
export function planForUser({ program, bubblewrap }: Tools, options: BuildOptions): BuildPlan {
  const { passwd, group } = writeAccounts(options)
  const mounts = machineMounts(options, {
    program,
    workspace: options.root,
    home: options.home,
    accounts: { passwd, group },
    binds: options.binds,
  })
  const args = bubblewrapArguments({ ...layoutOf(options, systemEntries(), mounts), ownUser: sandboxUser })
  return { file: bubblewrap, args: ['--block-fd', String(buildFds.go), ...args] }
}

export function layoutOf(options: BuildOptions, system: readonly SystemEntry[], mounts: readonly Mount[]) {
  const resolver = options.network === 'host' ? resolverFile() : undefined
  return {
    system,
    mounts:
      resolver === undefined ? mounts : [...mounts, { source: resolver, target: resolver, writable: false }],
    network: options.network,
    changeable: options.rootfs === 'writable',
    infoFd: buildFds.info,
    ...(options.tmpBytes !== undefined && { tmpBytes: options.tmpBytes }),
    init: [programInside, 'init', String(buildFds.ready)],
  }
}

export interface MountSources {
  readonly program: string
  readonly workspace: string
  readonly home: string
  readonly accounts?: { readonly passwd: string; readonly group: string }
  readonly binds: readonly Mount[]
}

export function machineMounts(options: BuildOptions, sources: MountSources): Mount[] {
  const { program, workspace, home, accounts, binds } = sources
  return [
    { source: program, target: programInside, writable: false },
    ...(accounts === undefined
      ? []
      : [
          { source: accounts.passwd, target: '/etc/passwd', writable: false },
          { source: accounts.group, target: '/etc/group', writable: false },
        ]),
    { source: workspace, target: options.root, writable: true },
    { source: home, target: homeInside(options.root), writable: true },
    ...binds,
  ]
}

export function writeAccounts({ state, root }: BuildOptions): { passwd: string; group: string } {
  mkdirSync(state, { recursive: true, mode: 0o700 })
  const passwd = join(state, 'passwd')
  const group = join(state, 'group')
  writeFileSync(passwd, passwdFile(hostFile('/etc/passwd'), homeInside(root)), { mode: 0o644 })
  writeFileSync(group, groupFile(hostFile('/etc/group')), { mode: 0o644 })
  return { passwd, group }
}
