import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
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
import { defaultLimits as defaultArchiveLimits } from '../archives/limits.ts'
import { dataDirectory, realOrNew } from '../data-directory.ts'
import { readAllowList } from '../egress/allow-list.ts'
import type { Mount } from '../machine/bubblewrap/layout.ts'
import { checkEnvironment } from '../machine/environment.ts'
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
  readonly machineLimits: MachineLimits
  readonly processLimits: ProcessLimits
  readonly archiveLimits: ArchiveLimits
  readonly grants: readonly Grant[]
  readonly watch: WatchSettings | undefined
  readonly folders: Folders
}

export interface Folders {
  /** The data directory, which all sandboxes of a host share. */
  readonly data: string
  readonly root: string
  readonly home: string
  readonly state: string
  /** On the workspace's file system, but outside of the workspace. */
  readonly staging: string
  /** Whether Vitrine created the workspace: it is one of the `own` folders. */
  readonly managed: boolean
  /** Whether HOME is a folder that the caller gave. */
  readonly homeGiven: boolean
  /** Created for this sandbox, and removed with it. */
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
export function settingsOf(id: string, options: LocalOptions): SandboxSettings {
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
  readAllowList(egress, 'egress')
  checkEnvironment(env)
  const { memoryBytes, cpus, pids, archives, ...processes } = limits
  return {
    isolation,
    rootfs,
    network,
    egress,
    user: options.user,
    env,
    binds: (options.binds ?? []).map(bindOf),
    machineLimits: {
      ...(memoryBytes !== undefined && { memoryBytes }),
      ...(cpus !== undefined && { cpus }),
      ...(pids !== undefined && { pids }),
    },
    processLimits: withDefaults(defaultProcessLimits, processes),
    archiveLimits: withDefaults(defaultArchiveLimits, archives ?? {}),
    grants: options.grants ?? [],
    watch: options.watch === false ? undefined : watchSettings(options.watch),
    folders: foldersOf(id, options),
  }
}

function withDefaults<Limits extends object>(defaults: Limits, overrides: Partial<Limits>): Limits {
  const defined = Object.entries(overrides).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(defined) }
}

function bindOf({ source, target = source, writable = false }: Bind): Mount {
  for (const [name, path] of Object.entries({ source, target })) {
    if (!isAbsolute(path) || path.includes('\0'))
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

function foldersOf(id: string, options: LocalOptions): Folders {
  const { root } = options
  const home = options.home === undefined ? undefined : resolve(options.home)
  const data = dataDirectory(options.data)
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
  if (systemFolders.includes(workspace))
    throw new VitrineError(
      'argument_invalid',
      `root: ${workspace} is a system folder; choose another folder.`,
    )
  if (`${own}/`.startsWith(`${workspace}/`))
    throw new VitrineError(
      'argument_invalid',
      `root: ${workspace} contains the data directory ${data}, which a sandbox must not see; choose another folder.`,
    )
  if (`${workspace}/`.startsWith(`${data}/`))
    throw new VitrineError(
      'argument_invalid',
      `root: ${workspace} is inside the data directory ${data}, which is reserved for Vitrine; choose another folder.`,
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
    // A folder that the caller gave is not removed with the sandbox.
    own: home === undefined ? [own, beside] : [own],
  }
}
