import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { type ArchiveLimits, defaultLimits as defaultArchiveLimits } from '../archives/limits.ts'
import { type CgroupLimits, checkLimits } from '../cgroups/limits.ts'
import { dataPlace, realOrNew } from '../data-place.ts'
import type { Grant } from '../files/places.ts'
import type { Mount } from '../machine/bubblewrap/layout.ts'
import { checkEnvironment } from '../machine/environment.ts'
import { defaultProcessLimits, type ProcessLimits } from '../processes/process-host.ts'
import { readAllowList } from '../reach/allow-list.ts'
import { type WatchOptions, type WatchSettings, watchSettings } from '../watching/settings.ts'

export type Isolation = 'auto' | 'bubblewrap' | 'none'

/** What a machine may have, and what its processes may. */
export interface SandboxLimits extends CgroupLimits, Partial<ProcessLimits> {
  /** What an archive may bring in. */
  readonly archives?: Partial<ArchiveLimits>
}

export interface LocalOptions {
  /** The workspace. Without one, the sandbox gets a folder of its own, which goes with `destroy`. */
  readonly root?: string
  /** HOME on this machine. Beside the workspace without one. */
  readonly home?: string
  /** Where sandboxes keep what is theirs; default `~/.local/share/vitrine`. */
  readonly data?: string
  /** `auto` (default) isolates where it can and says so where it cannot. */
  readonly isolation?: Isolation
  /** `writable`: a system of its own to install into, which disappears with the sandbox. Needs a host that is root. */
  readonly rootfs?: 'read-only' | 'writable'
  readonly limits?: SandboxLimits
  /** Who commands run as without isolation, when the host is root: one that is not. With isolation it is never root. */
  readonly user?: string
  /** `none` (default): only the sandbox's own loopback. */
  readonly network?: 'none' | 'host'
  /** The only hosts and ports that a sandbox without network reaches: `['registry.example:443']`. */
  readonly reach?: readonly string[]
  /** For every command. */
  readonly env?: Readonly<Record<string, string>>
  /** More of this machine inside, read-only unless said: tools, caches, sockets. */
  readonly binds?: readonly {
    readonly source: string
    readonly target?: string
    readonly writable?: boolean
  }[]
  /** Places beside the workspace that `files` may read, and where said write: parts of HOME or of `binds`. */
  readonly grants?: readonly Grant[]
  /** How changes of files are followed; `false` for not at all. */
  readonly watch?: WatchOptions | false
}

/** The options with nothing left open. */
export interface Settings {
  readonly isolation: Isolation
  readonly rootfs: 'read-only' | 'writable'
  readonly network: 'none' | 'host'
  readonly reach: readonly string[]
  readonly user: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly binds: readonly Mount[]
  readonly machineLimits: CgroupLimits
  readonly processLimits: ProcessLimits
  readonly archiveLimits: ArchiveLimits
  readonly grants: readonly Grant[]
  readonly watch: WatchSettings | undefined
  readonly folders: Folders
}

export interface Folders {
  /** What this and other sandboxes have in common. */
  readonly data: string
  readonly root: string
  readonly home: string
  readonly state: string
  /** On the workspace's file system, and not in it. */
  readonly staging: string
  /** Whether the workspace is among them. */
  readonly managed: boolean
  /** Whether HOME was there before the sandbox and belongs to somebody. */
  readonly homeGiven: boolean
  /** Made for this sandbox, and removed with it. */
  readonly own: readonly string[]
}

const notAWorkspace = [
  '/',
  '/proc',
  '/sys',
  '/dev',
  '/etc',
  '/usr',
  '/bin',
  '/lib',
  '/run',
  '/tmp',
  '/var',
  '/boot',
]

export function settingsOf(id: string, options: LocalOptions): Settings {
  const {
    isolation = 'auto',
    rootfs = 'read-only',
    network = 'none',
    reach = [],
    env = {},
    limits = {},
  } = options
  // It names a folder, and that folder is removed with the sandbox.
  if (!/^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,128}$/.test(id))
    throw new VitrineError(
      'argument_invalid',
      `id: expected letters, digits, "_", "." and "-", 128 at most, and not only dots, got ${JSON.stringify(id)}.`,
    )
  oneOf('isolation', isolation, ['auto', 'bubblewrap', 'none'])
  oneOf('rootfs', rootfs, ['read-only', 'writable'])
  oneOf('network', network, ['none', 'host'])
  if (network === 'host' && reach.length > 0) {
    const message =
      "reach: with `network: 'host'` everything is in reach; leave `network` out to keep to the list."
    throw new VitrineError('argument_invalid', message)
  }
  readAllowList(reach, 'reach')
  checkEnvironment(env)
  const { memoryBytes, cpus, pids, archives, ...processes } = limits
  checkLimits(limits)
  return {
    isolation,
    rootfs,
    network,
    reach,
    user: options.user,
    env,
    binds: (options.binds ?? []).map(bindOf),
    machineLimits: {
      ...(memoryBytes !== undefined && { memoryBytes }),
      ...(cpus !== undefined && { cpus }),
      ...(pids !== undefined && { pids }),
    },
    processLimits: checkedLimits('limits', defaultProcessLimits, processes),
    archiveLimits: checkedLimits('limits.archives', defaultArchiveLimits, archives ?? {}),
    grants: options.grants ?? [],
    watch: options.watch === false ? undefined : watchSettings(options.watch),
    folders: foldersOf(id, options),
  }
}

function oneOf(name: string, value: string, known: readonly string[]): void {
  if (!known.includes(value))
    throw new VitrineError(
      'argument_invalid',
      `${name}: expected ${known.join(', ')}, got ${JSON.stringify(value)}.`,
    )
}

function checkedLimits<Limits extends object>(
  where: string,
  defaults: Limits,
  wished: Partial<Limits>,
): Limits {
  const given = Object.entries(wished).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) {
    if (!Object.hasOwn(defaults, name))
      throw new VitrineError('argument_invalid', `${where}.${name}: there is no such limit.`)
    if (!(typeof value === 'number' && Number.isSafeInteger(value) && value >= 1))
      throw new VitrineError(
        'argument_invalid',
        `${where}.${name}: expected a whole number above 0, got ${String(value)}.`,
      )
  }
  return { ...defaults, ...Object.fromEntries(given) }
}

function bindOf({
  source,
  target = source,
  writable = false,
}: NonNullable<LocalOptions['binds']>[number]): Mount {
  for (const [name, path] of Object.entries({ source, target })) {
    if (!isAbsolute(path) || path.includes('\0'))
      throw new VitrineError(
        'argument_invalid',
        `binds.${name}: expected an absolute path, got ${JSON.stringify(path)}.`,
      )
  }
  if (!existsSync(source))
    throw new VitrineError('argument_invalid', `binds.source: there is no ${source} on this machine.`)
  const place = resolve(target)
  if (
    place === '/' ||
    ['/proc', '/dev', '/sys', '/run/vitrine'].some((own) => `${place}/`.startsWith(`${own}/`))
  )
    throw new VitrineError(
      'argument_invalid',
      `binds.target: ${place} is the sandbox's own; choose another place.`,
    )
  return { source: realpathSync(source), target: place, writable }
}

function foldersOf(id: string, options: LocalOptions): Folders {
  const { root } = options
  const home = options.home === undefined ? undefined : resolve(options.home)
  const data = dataPlace(options.data)
  const own = join(data, 'sandboxes', id)
  if (root === undefined)
    return {
      data,
      root: join(own, 'workspace'),
      home: home ?? join(own, 'home'),
      state: join(own, 'state'),
      staging: join(own, 'staging'),
      managed: true,
      homeGiven: home !== undefined,
      own: [own],
    }
  const workspace = realOrNew(resolve(root))
  if (notAWorkspace.includes(workspace))
    throw new VitrineError(
      'argument_invalid',
      `root: ${workspace} belongs to the system; choose a folder of your own.`,
    )
  if (`${own}/`.startsWith(`${workspace}/`))
    throw new VitrineError(
      'argument_invalid',
      `root: ${workspace} holds the data folder ${data}, which no sandbox may see.`,
    )
  if (`${workspace}/`.startsWith(`${data}/`))
    throw new VitrineError(
      'argument_invalid',
      `root: ${workspace} is inside the data folder ${data}, which is for what sandboxes keep of their own.`,
    )
  const beside = join(dirname(workspace), '.vitrine', basename(workspace))
  return {
    data,
    root: workspace,
    home: home ?? join(beside, 'home'),
    state: join(own, 'state'),
    staging: join(beside, `staging-${id}`),
    managed: false,
    homeGiven: home !== undefined,
    // What was there before the sandbox stays.
    own: home === undefined ? [own, beside] : [own],
  }
}
