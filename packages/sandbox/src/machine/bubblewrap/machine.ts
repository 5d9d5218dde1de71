import { closeSync, lstatSync, openSync, readlinkSync, writeFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FileIdentity } from '@vitrine/archives'
import { VitrineError } from '@vitrine/protocol'
import type { CgroupAccess } from '../../cgroups/access.ts'
import type { Cgroup } from '../../cgroups/cgroup.ts'
import type { LimitCounters, LimitHits } from '../../cgroups/limit-hits.ts'
import { type GuardRegistration, guardSandbox, hostMarker } from '../../orphan-guard.ts'
import { seccompFilter } from '../../seccomp/filter.ts'
import { isInside } from '../can-change.ts'
import { systemPath } from '../environment.ts'
import { Freezing } from '../freezing.ts'
import type { ChooseProcesses, ProcessRows } from '../kill-inside.ts'
import { send } from '../kill-tree.ts'
import { launchInTerminal } from '../launch-in-terminal.ts'
import {
  type EnforcedLimits,
  groupFolders,
  type LimitedGroup,
  limitedGroup,
  limitKinds,
  type WantedLimits,
} from '../limits.ts'
import type { Degradation, Launch, Launched, Machine, MachineCapabilities } from '../machine.ts'
import { sandboxMarker } from '../orphans.ts'
import { readProcessTable, readRow } from '../process-table.ts'
import { Spawner } from '../spawner.ts'
import { findUser, parseUsers, type User } from '../users.ts'
import { sandboxUser } from './accounts.ts'
import { type Built, buildMachine } from './build.ts'
import { groupsInSystem, usersOfSystem } from './own-users.ts'
import { type BuildOptions, homeInside, type Tools } from './plan.ts'
import { Portal } from './portal.ts'
import { hostFile } from './system.ts'

export interface BubblewrapOptions extends BuildOptions {
  /** As `ownerTagOf` returns it. */
  readonly ownerTag: string
  readonly env: Readonly<Record<string, string>>
  readonly limits: WantedLimits
  readonly cgroups: CgroupAccess
  readonly tools: Tools
}

const namespaces = ['user', 'mnt', 'pid', 'net', 'ipc', 'uts'] as const

/**
 * CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE, SYS_CHROOT. Not SETFCAP: file
 * capabilities set inside would be valid on the host.
 */
const rootCapabilities = [0, 1, 3, 4, 5, 6, 7, 8, 10, 18].reduce(
  (mask, bit) => mask | (1n << BigInt(bit)),
  0n,
)

/** The user id on disk to which `vitrine-machine build` maps the sandbox's root. */
const rootOnDisk = 2 ** 30 - 2

const exitWaitMs = 3_000

/** A machine with its own namespaces, which every command enters and which end with their first process. */
export async function bubblewrapMachine(options: BubblewrapOptions): Promise<Machine> {
  const limited = await limitedGroup(options.cgroups, options.ownerTag, options.limits)
  const { group } = limited
  const guard = guardSandbox(groupFolders(group))
  try {
    const built = await buildMachine({ ...options, tmpBytes: options.limits.tmpBytes || undefined }, group)
    return new BubblewrapMachine(options, built, limited, guard)
  } catch (error) {
    await group?.remove().catch(() => undefined)
    guard.end()
    throw error
  }
}

class BubblewrapMachine implements Machine {
  readonly root: string
  readonly home: string
  readonly cwdRoots: readonly string[]
  readonly capabilities: MachineCapabilities
  readonly degraded: readonly Degradation[]
  readonly limits: EnforcedLimits
  readonly tmpFolders: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly netFolder: string
  readonly sharesLoopback: boolean
  readonly chownsFiles: boolean
  readonly #mounts: readonly { readonly source: string; readonly target: string }[]
  readonly #markers: Readonly<Record<string, string>>
  readonly #built: Built
  readonly #group: Cgroup | undefined
  readonly #counters: LimitCounters | undefined
  readonly #guard: GuardRegistration
  readonly #freezing: Freezing
  readonly #program: string
  readonly #fds: number[]
  readonly #namespaces: readonly string[]
  readonly #portalArgs: readonly string[]
  readonly #users: readonly User[]
  readonly #system: string
  readonly #filters: { readonly user: string; readonly root: string }
  readonly #pidNamespace: string
  #portal: Portal | undefined
  #spawner: Spawner | undefined
  #closing = false
  #ended = false

  constructor(
    options: BubblewrapOptions,
    built: Built,
    { group, ...limited }: LimitedGroup,
    guard: GuardRegistration,
  ) {
    const { root, env, network, cgroups, tools, state } = options
    this.root = root
    this.home = homeInside(root)
    this.cwdRoots = [root, this.home, '/tmp', ...options.binds.map(({ target }) => target)]
    const { tmpBytes, withoutTmpSize } = built
    this.limits = { ...limited.limits, ...(tmpBytes !== undefined && { tmpBytes }) }
    this.tmpFolders =
      tmpBytes === undefined
        ? []
        : ['tmp', 'dev/shm', ...(built.changeable ? [] : ['var/tmp'])].map(
            (name) => `/proc/${built.pid}/root/${name}`,
          )
    this.degraded = [
      ...limited.degraded,
      ...built.degraded,
      ...(withoutTmpSize === undefined || options.limits.defaults.includes('tmpBytes')
        ? []
        : [{ feature: 'limits.tmpBytes', reason: withoutTmpSize }]),
      ...(network === 'host' ? [hostNetwork] : []),
    ]
    this.environment = {
      PATH: systemPath,
      LANG: 'C.UTF-8',
      HOME: this.home,
      USER: sandboxUser.name,
      LOGNAME: sandboxUser.name,
      SHELL: '/bin/sh',
      ...env,
    }
    this.netFolder = `/proc/${built.pid}/net`
    this.chownsFiles = built.uids !== undefined
    this.#mounts = [
      { source: root, target: root },
      { source: options.home, target: this.home },
      ...options.binds,
    ].toSorted((a, b) => b.target.length - a.target.length)
    this.sharesLoopback = network === 'host'
    this.#markers = { ...hostMarker, ...sandboxMarker(options.ownerTag) }
    this.#built = built
    void built.ended.then(() => {
      this.#ended = true
    })
    this.#group = group
    this.#counters = group?.counters(['memoryBytes', 'pids'])
    this.#guard = guard
    this.#freezing = new Freezing({
      group: cgroups.freeze ? group : undefined,
      pids: async () => (await this.pids()).filter((pid) => pid !== built.pid),
      commands: (table) => this.#commands(table),
    })
    this.#program = tools.program
    this.#users = parseUsers(hostFile(join(state, 'passwd')))
    this.#system = options.system
    this.#filters = writeFilters(options)
    const opened = namespaces.map((name) => ({ name, fd: openSync(`/proc/${built.pid}/ns/${name}`, 'r') }))
    this.#fds = opened.map(({ fd }) => fd)
    // Kept open by this process: looking up the pid again could find another process.
    const paths = opened.map(({ name, fd }) => `${name}=/proc/${process.pid}/fd/${fd}`)
    this.#namespaces = paths
    this.#portalArgs = paths.filter((path) => path.startsWith('user=') || path.startsWith('net='))
    this.#pidNamespace = readlinkSync(`/proc/${built.pid}/ns/pid`)
    this.capabilities = {
      isolation: 'namespaces',
      // Without root, commands run as the host's user and could kill the supervisor of their own tree.
      killTree: built.uids === undefined ? 'best-effort' : 'complete',
      network: ['none', 'host', 'egress'],
      limits: [...limitKinds(cgroups), ...(withoutTmpSize === undefined ? (['tmp'] as const) : [])],
      terminals: true,
      pause: group !== undefined && cgroups.freeze ? 'freezer' : 'signals',
      users: built.changeable,
      snapshots: false,
    }
  }

  async launch(launch: Launch): Promise<Launched> {
    if (this.#closing) throw new VitrineError('sandbox_not_running', 'The sandbox is stopping.')
    const user = this.#userNamed(launch.user ?? sandboxUser.name)
    const root = user.uid === 0
    const own = launch.env.HOME === this.home ? environmentOf(user) : {}
    const marked = { ...launch, env: { ...launch.env, ...own, ...this.#markers } }
    const { tty } = marked
    if (tty !== undefined) return this.#launchInTerminal({ ...marked, tty }, user)
    const { uid, gid } = user
    const groups = this.#groupsOf(user)
    return this.#runningSpawner().launch(marked, {
      ...{ uid, gid, groups, root },
      capabilities: root ? rootCapabilities : 0n,
    })
  }

  #runningSpawner(): Spawner {
    if (this.#spawner?.alive !== true) {
      this.#spawner = new Spawner({
        program: this.#program,
        machineArgs: [
          ...this.#namespaces,
          `seccomp=${this.#filters.user}`,
          `seccomp-root=${this.#filters.root}`,
          ...(this.#built.uids === undefined ? [] : [`owners=${this.#built.uids}`]),
        ],
        env: this.#markers,
        onStart: (pid) => this.#group?.join(pid),
      })
    }
    return this.#spawner
  }

  #launchInTerminal(
    launch: Launch & { readonly tty: NonNullable<Launch['tty']> },
    user: User,
  ): Promise<Launched> {
    const root = user.uid === 0
    const { uids, pid } = this.#built
    const machineArgs = [
      ...this.#namespaces,
      ...(this.#group?.paths ?? []).map((path) => `cgroup=${path}`),
      ...[`uid=${user.uid}`, `gid=${user.gid}`, `groups=${this.#groupsOf(user).join()}`],
      `seccomp=${root ? this.#filters.root : this.#filters.user}`,
      ...(root ? [`capabilities=${rootCapabilities.toString(16)}`] : []),
      ...(uids === undefined ? [] : [`terminal-owner=${uids + user.uid}`]),
    ]
    const multiplexer = `/proc/${pid}/root/dev/pts/ptmx`
    return launchInTerminal({ program: this.#program, machineArgs, multiplexer }, launch)
  }

  /** Only a writable system has groups of its own. */
  #groupsOf({ name, uid }: User): readonly number[] {
    return uid === sandboxUser.uid || !this.#built.changeable ? [] : groupsInSystem(this.#system, name)
  }

  #userNamed(name: string): User {
    const user = findUser(name === sandboxUser.name ? this.#users : this.#knownUsers(), name)
    if (user.uid === sandboxUser.uid || this.#built.changeable) return user
    throw new VitrineError(
      'user_unknown',
      `This sandbox has only the user "${sandboxUser.name}"; other users and root need a host that runs as root and \`rootfs: 'writable'\`.`,
    )
  }

  /** The sandbox's user and root are fixed; other users come from its own `passwd`, which may change while it runs. */
  #knownUsers(): readonly User[] {
    if (!this.#built.changeable) return this.#users
    const fixed = this.#users.filter(({ uid }) => uid === sandboxUser.uid || uid === 0)
    return [...fixed, ...usersOfSystem(this.#system)]
  }

  /** The system's folders belong to root, which is not the sandbox's user. */
  canChange(path: string): boolean {
    return isInside(path, this.cwdRoots)
  }

  onDisk(path: string): string | undefined {
    const mount = this.#mounts.find(({ target }) => path === target || path.startsWith(`${target}/`))
    return mount && mount.source + path.slice(mount.target.length)
  }

  /** On the workspace's disk only two of the sandbox's users exist: the owner and root. */
  fileUser(name: string): FileIdentity {
    const { uid, gid } = this.#userNamed(name)
    const owner = lstatSync(this.root)
    if (uid === sandboxUser.uid) return { name, uid: owner.uid, gids: [owner.gid], all: false, owns: true }
    if (uid === 0) return { name, uid: rootOnDisk, gids: [rootOnDisk], all: true, owns: true }
    return { name, uid: -uid, gids: [-gid], all: false, owns: false }
  }

  async pids(): Promise<readonly number[]> {
    return [...readProcessTable().keys()].filter((pid) => pidNamespaceOf(pid) === this.#pidNamespace)
  }

  limitHits(): LimitHits {
    return this.#counters?.read() ?? {}
  }

  pidsInUse(): number | undefined {
    return this.#counters?.pidsInUse()
  }

  killInside(choose: ChooseProcesses): Promise<number> {
    return this.#freezing.killInside(choose)
  }

  /** The processes whose parent is inside too: the first process and the supervisors have a parent outside. */
  #commands(table: ProcessRows): number[] {
    const inside = new Set([...table.keys()].filter((pid) => pidNamespaceOf(pid) === this.#pidNamespace))
    return [...inside].filter((pid) => inside.has(table.get(pid)?.parent ?? 0))
  }

  connect(port: number): Promise<Socket> {
    return this.#runningPortal().connect(port)
  }

  listen(port: number): Promise<Server> {
    return this.#runningPortal().listen(port)
  }

  #runningPortal(): Portal {
    if (this.#portal?.alive !== true) this.#portal = new Portal(this.#program, this.#portalArgs)
    return this.#portal
  }

  pause(): Promise<void> {
    return this.#freezing.pause()
  }

  resume(): Promise<void> {
    return this.#freezing.resume()
  }

  onLost(listener: (reason: string) => void): void {
    void this.#built.ended.then((reason) => {
      if (!this.#closing) listener(reason)
    })
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#portal?.close()
    this.#spawner?.expectEnd()
    await this.#freezing.close()
    // The kernel kills all processes of a PID namespace when its first process ends.
    this.#built.keepProcessAlive()
    // Once it has ended, its pid may belong to another process.
    if (!this.#ended) send(this.#built.pid, 'SIGKILL')
    await this.#built.ended
    const until = performance.now() + exitWaitMs
    while (readRow(this.#built.pid) !== undefined && performance.now() < until) await sleep(2)
    this.#spawner?.close()
    for (const fd of this.#fds.splice(0)) closeSync(fd)
    this.#counters?.close()
    this.#built.release()
    try {
      await this.#group?.remove()
    } finally {
      this.#guard.end()
    }
  }
}

function environmentOf({ name, home }: User): Record<string, string> {
  return { HOME: home, USER: name, LOGNAME: name }
}

const hostNetwork: Degradation = {
  feature: 'network',
  reason:
    "Commands use the host's network and can reach its loopback services and the cloud's metadata address.",
}

function pidNamespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return undefined
  }
}

/**
 * The sandbox's root may create setuid and setgid files, as packages have them, only where no file of the workspace belongs
 * to a user of the host: not in a workspace that the caller gave, and not in one that was used without isolation.
 */
function writeFilters({ state, managed, root: workspace }: BuildOptions): { user: string; root: string } {
  const setId = managed && lstatSync(workspace).uid >= rootOnDisk
  const arch = process.arch === 'arm64' ? 'arm64' : 'x64'
  const user = join(state, 'seccomp')
  const root = join(state, 'seccomp-root')
  writeFileSync(user, seccompFilter(arch), { mode: 0o600 })
  writeFileSync(root, seccompFilter(arch, { root: true, setId }), { mode: 0o600 })
  return { user, root }
}
