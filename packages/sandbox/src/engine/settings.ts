import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { defaultLimits as defaultArchiveLimits } from '@vitrine/archives'
import { readAllowList } from '@vitrine/egress'
import {
  type ArchiveLimits,
  type Bind,
  type Grant,
  type Isolation,
  type LocalOptions,
  type MachineLimits,
  type ProcessLimits,
  VitrineError,
} from '@vitrine/protocol'
import { checkSandboxId } from '@vitrine/protocol/primitives'
import { createAndResolve, dataDirectory, resolveExisting } from '../data-directory.ts'
import { assertSameDiskLimit } from '../disk/same-limit.ts'
import { type VolumePaths, volumeIn } from '../disk/volume.ts'
import { hostResources, withDefaultLimits } from '../limits/default-limits.ts'
import type { Mount } from '../machine/bubblewrap/layout.ts'
import { checkEnvironment } from '../machine/environment.ts'
import type { WantedLimits } from '../machine/limits.ts'
import { defaultProcessLimits } from '../processes/process-host.ts'
import { type WatchSettings, watchSettings } from '../watching/settings.ts'

/** The options with all defaults applied. */
export interface SandboxSettings {
  readonly isolation: Isolation
  readonly rootfs: 'read-only' | 'writable'
  readonly network: 'none' | 'host'
  readonly egress: readonly string[]
  readonly user: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly binds: readonly Mount[]
  readonly machineLimits: WantedLimits
  readonly processLimits: ProcessLimits
  readonly archiveLimits: ArchiveLimits
  /** Directories outside the workspace that file calls may use. */
  readonly grants: readonly Grant[]
  readonly watch: WatchSettings | undefined
  /** Files of the workspace that the host writes, which are not watched; relative to it. */
  readonly privatePaths: readonly string[]
  readonly folders: Folders
}

export interface Folders {
  /** The data directory, which all sandboxes of a host share. */
  readonly data: string
  /** The workspace. */
  readonly root: string
  readonly home: string
  readonly state: string
  /** On the workspace's file system, but outside of the workspace. */
  readonly staging: string
  /** The changes to a writable system. */
  readonly system: string
  /** With a limit of disk space: the folder that holds workspace and HOME, and the file to mount there. */
  readonly volume?: VolumePaths
  /** Whether Vitrine chose the place of the workspace: it lies in one of the `own` directories. */
  readonly managed: boolean
  /** Whether the caller chose HOME. */
  readonly homeGiven: boolean
  /** Created for this sandbox alone, and removed with it. */
  readonly own: readonly string[]
}

const systemFolders = [
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

/** Validates the options and applies all defaults. */
export function resolveSettings(
  id: string,
  options: LocalOptions,
  privatePaths: readonly string[] = [],
): SandboxSettings {
  const {
    isolation = 'auto',
    rootfs = 'read-only',
    network = 'none',
    egress = [],
    env = {},
    limits = {},
  } = options
  checkSandboxId(id)
  if (network === 'host' && egress.length > 0) {
    const message =
      "egress: has no effect with `network: 'host'`, which allows every address; leave `network` out to enforce the list."
    throw new VitrineError('argument_invalid', message)
  }
  // Throws for an invalid entry.
  readAllowList(egress, 'egress')
  checkEnvironment(env)
  const { memoryBytes, cpus, pids, tmpBytes, diskBytes, archives, ...processLimits } = limits
  return {
    isolation,
    rootfs,
    network,
    egress,
    user: options.user,
    env,
    binds: (options.binds ?? []).map(resolveBind),
    machineLimits: wantedLimits({ memoryBytes, cpus, pids, tmpBytes, diskBytes }),
    processLimits: withDefaults(defaultProcessLimits, processLimits),
    archiveLimits: withDefaults(defaultArchiveLimits, archives ?? {}),
    grants: options.grants ?? [],
    watch: options.watch === false ? undefined : watchSettings(options.watch),
    privatePaths,
    folders: resolveFolders(id, options),
  }
}

function wantedLimits(
  limits: { [Name in keyof MachineLimits]: MachineLimits[Name] | undefined },
): WantedLimits {
  const given: MachineLimits = Object.fromEntries(
    Object.entries(limits).filter(([, value]) => value !== undefined),
  )
  const wanted = withDefaultLimits(given, hostResources())
  const { diskBytes = Number.POSITIVE_INFINITY } = given
  return {
    ...wanted,
    // /tmp is no way around the limit of disk space.
    ...(wanted.tmpBytes && { tmpBytes: Math.min(wanted.tmpBytes, diskBytes) }),
    defaults: (['memoryBytes', 'pids', 'tmpBytes'] as const).filter((name) => given[name] === undefined),
  }
}

function withDefaults<Limits extends object>(defaults: Limits, overrides: Partial<Limits>): Limits {
  const defined = Object.entries(overrides).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(defined) }
}

function resolveBind({ source, target = source, writable = false }: Bind): Mount {
  for (const [name, path] of Object.entries({ source, target })) {
    if (path.includes('\0'))
      throw new VitrineError(
        'argument_invalid',
        `binds.${name}: expected a path without NUL characters, got ${JSON.stringify(path)}.`,
      )
    if (!isAbsolute(path))
      throw new VitrineError(
        'argument_invalid',
        `binds.${name}: expected an absolute path, got ${JSON.stringify(path)}.`,
      )
  }
  if (!existsSync(source))
    throw new VitrineError('argument_invalid', `binds.source: ${source} does not exist on the host.`)
  const mountPoint = resolve(target)
  if (
    mountPoint === '/' ||
    ['/proc', '/dev', '/sys', '/run/vitrine'].some((own) => `${mountPoint}/`.startsWith(`${own}/`))
  )
    throw new VitrineError(
      'argument_invalid',
      `binds.target: ${mountPoint} is reserved for the sandbox; choose another path.`,
    )
  return { source: realpathSync(source), target: mountPoint, writable }
}

function resolveFolders(id: string, options: LocalOptions): Folders {
  const { root } = options
  const home = options.home === undefined ? undefined : resolve(options.home)
  const data = dataDirectory(options.data)
  if (home !== undefined) assertOutsideData('home', resolveExisting(home), data)
  const own = join(data, 'sandboxes', id)
  if (root === undefined) {
    assertSameDiskLimit(own, options.limits?.diskBytes)
    const limited = options.limits?.diskBytes !== undefined
    const volume = volumeIn(own)
    const parent = limited ? volume.mountPoint : own
    return {
      data,
      root: join(parent, 'workspace'),
      home: home ?? join(parent, 'home'),
      state: join(own, 'state'),
      staging: join(parent, 'staging'),
      system: limited ? join(parent, 'system') : join(own, 'state', 'system'),
      ...(limited && { volume }),
      managed: true,
      homeGiven: home !== undefined,
      own: [own],
    }
  }
  const workspace = createAndResolve(resolve(root))
  if (systemFolders.includes(workspace))
    throw new VitrineError(
      'argument_invalid',
      `root: ${workspace} is a system directory; choose another directory.`,
    )
  assertOutsideData('root', workspace, data)
  // On the workspace's file system, and named by the id, since several sandboxes may have the same workspace.
  const beside = join(dirname(workspace), '.vitrine', id)
  return {
    data,
    root: workspace,
    home: home ?? join(beside, 'home'),
    state: join(own, 'state'),
    staging: join(beside, 'staging'),
    system: join(own, 'state', 'system'),
    managed: false,
    homeGiven: home !== undefined,
    own: [own, beside],
  }
}

/** Checks the given folders again before each start: one of them may have become a link since. */
export function assertFoldersAllowed({ data, root, home, managed, homeGiven }: Folders): void {
  if (!managed) assertOutsideData('root', resolveExisting(root), data)
  if (homeGiven) assertOutsideData('home', resolveExisting(home), data)
}

/** Both paths are without symbolic links. */
function assertOutsideData(option: 'root' | 'home', path: string, data: string): void {
  if (isInside(data, path))
    throw new VitrineError(
      'argument_invalid',
      `${option}: ${path} contains the data directory ${data}, which a sandbox must not see; choose another directory.`,
    )
  if (isInside(path, data))
    throw new VitrineError(
      'argument_invalid',
      `${option}: ${path} is inside the data directory ${data}, which is reserved for Vitrine; choose another directory.`,
    )
}

function isInside(path: string, directory: string): boolean {
  return `${path}/`.startsWith(directory === '/' ? '/' : `${directory}/`)
}
