import { connect, createServer, type Server, type Socket } from 'node:net'
import type { FileIdentity } from '@vitrine/archives'
import { VitrineError } from '@vitrine/protocol'
import type { CgroupAccess } from '../cgroups/access.ts'
import type { Cgroup } from '../cgroups/cgroup.ts'
import type { LimitCounters, LimitHits } from '../cgroups/limit-hits.ts'
import { machineProgram } from '../native.ts'
import { type GuardRegistration, guardSandbox, hostMarker } from '../orphan-guard.ts'
import { canChange, isInside } from './can-change.ts'
import { chownFolders, type OwnFolders } from './chown-folders.ts'
import { environmentOfHost } from './environment.ts'
import { Freezing } from './freezing.ts'
import type { ChooseProcesses } from './kill-inside.ts'
import { killMembers } from './kill-tree.ts'
import { launchInTerminal } from './launch-in-terminal.ts'
import {
  type EnforcedLimits,
  groupFolders,
  type LimitedGroup,
  limitedGroup,
  limitKinds,
  type WantedLimits,
} from './limits.ts'
import type { Degradation, Launch, Launched, Machine, MachineCapabilities } from './machine.ts'
import { markedBy, sandboxMarker } from './orphans.ts'
import { descendantsOf, type ProcessRow, readProcessTable } from './process-table.ts'
import { Spawner } from './spawner.ts'
import { launchUnsupervised } from './unsupervised.ts'
import { findUser, groupsOfHost, type User, usersOfHost } from './users.ts'

export interface PlainOptions {
  /** As `ownerTagOf` returns it. */
  readonly ownerTag: string
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  readonly limits: WantedLimits
  readonly cgroups: CgroupAccess
  /** The default user of commands, and the folders to give to that user. Requires a root host. */
  readonly runAs?: { readonly user: string; readonly folders: OwnFolders } | undefined
}

const processVariable = 'VITRINE_PROCESS'

/** A machine without isolation: commands are plain processes of the host, each in its own session. */
export async function plainMachine(options: PlainOptions): Promise<Machine> {
  const { runAs } = options
  if (runAs !== undefined) chownFolders(userNamed(runAs.user), runAs.folders)
  const limited = await limitedGroup(options.cgroups, options.ownerTag, options.limits)
  const guard = guardSandbox(groupFolders(limited.group))
  return new PlainMachine(options, limited, guard)
}

class PlainMachine implements Machine {
  readonly root: string
  readonly home: string
  readonly cwdRoots: readonly string[]
  readonly capabilities: MachineCapabilities
  readonly degraded: readonly Degradation[]
  readonly limits: EnforcedLimits
  readonly tmpFolders = []
  readonly environment: Readonly<Record<string, string>>
  readonly netFolder = '/proc/net'
  readonly sharesLoopback = true
  readonly chownsFiles: boolean
  readonly #group: Cgroup | undefined
  readonly #counters: LimitCounters | undefined
  readonly #guard: GuardRegistration
  readonly #ownerTag: string
  readonly #freezing: Freezing
  readonly #markers: Readonly<Record<string, string>>
  readonly #program = machineProgram()
  readonly #user: string | undefined
  #spawner: Spawner | undefined
  #launches = 0
  #closing = false

  constructor(
    { ownerTag, root, home, env, cgroups, runAs }: PlainOptions,
    { group, limits, degraded }: LimitedGroup,
    guard: GuardRegistration,
  ) {
    const user = runAs?.user
    this.root = root
    this.home = home
    this.cwdRoots = [root, home, '/tmp']
    this.#group = group
    this.limits = limits
    this.#counters = group?.counters(['memoryBytes', 'pids'])
    this.#guard = guard
    this.#ownerTag = ownerTag
    this.#user = user
    this.chownsFiles = user !== undefined
    this.#markers = { ...hostMarker, ...sandboxMarker(ownerTag) }
    this.#freezing = new Freezing({
      group: cgroups.freeze ? group : undefined,
      pids: () => this.pids(),
      commands: (table) => this.#commands(table),
    })
    this.environment = {
      ...environmentOfHost(process.env),
      HOME: home,
      ...(user !== undefined && { USER: user, LOGNAME: user }),
      ...env,
    }
    this.degraded = [
      {
        feature: 'isolation',
        reason:
          'Commands run as plain processes of the host: they can read and change everything that its user can, including the journal.',
      },
      ...(guard.present
        ? []
        : [{ feature: 'guard', reason: 'No guard process is available on this platform.' }]),
      ...degraded,
    ]
    this.capabilities = {
      isolation: 'none',
      killTree: 'best-effort',
      network: ['host'],
      limits: limitKinds(cgroups),
      terminals: this.#program !== undefined,
      pause: group !== undefined && cgroups.freeze ? 'freezer' : 'signals',
      users: process.getuid?.() === 0,
      snapshots: false,
    }
  }

  async launch(launch: Launch): Promise<Launched> {
    if (this.#closing) throw new VitrineError('sandbox_not_running', 'The sandbox is stopping.')
    this.#launches += 1
    const processTag = `${this.#launches}.${process.pid}`
    const env = { ...launch.env, ...this.#markers, [processVariable]: processTag }
    const user = launch.user ?? this.#user
    const ids = user === undefined ? undefined : this.#ids(user)
    const { tty } = launch
    if (tty !== undefined) return this.#launchInTerminal({ ...launch, env, tty }, ids)
    const marked = { ...launch, env }
    const identity = { uid: -1, gid: -1, groups: [], ...ids, root: false, capabilities: 0n }
    return this.#program === undefined
      ? launchUnsupervised(marked, `${processVariable}=${processTag}`, ids)
      : this.#runningSpawner(this.#program).launch(marked, identity)
  }

  #runningSpawner(program: string): Spawner {
    if (this.#spawner?.alive !== true) {
      this.#spawner = new Spawner({
        program,
        machineArgs: ['privileges=keep', 'owners=0'],
        env: this.#markers,
        onStart: (pid) => this.#group?.join(pid),
      })
    }
    return this.#spawner
  }

  #launchInTerminal(
    launch: Launch & { readonly tty: NonNullable<Launch['tty']> },
    ids: { uid: number; gid: number; groups: readonly number[] } | undefined,
  ): Promise<Launched> {
    if (this.#program === undefined)
      throw new VitrineError('unsupported', `There are no terminals on ${process.platform}-${process.arch}.`)
    const machineArgs = [
      'privileges=keep',
      ...(ids === undefined
        ? []
        : [`uid=${ids.uid}`, `gid=${ids.gid}`, `groups=${ids.groups.join()}`, `terminal-owner=${ids.uid}`]),
      ...(this.#group?.paths ?? []).map((path) => `cgroup=${path}`),
    ]
    return launchInTerminal({ program: this.#program, machineArgs, multiplexer: '/dev/ptmx' }, launch)
  }

  #ids(user: string): { uid: number; gid: number; groups: readonly number[] } {
    const { name, uid, gid } = userNamed(user)
    return { uid, gid, groups: groupsOfHost(name) }
  }

  canChange(path: string): boolean {
    if (isInside(path, this.cwdRoots)) return true
    if (this.#user === undefined)
      return canChange(path, { uid: process.geteuid?.() ?? -1, gids: process.getgroups?.() ?? [] })
    const { uid, gid, groups } = this.#ids(this.#user)
    return canChange(path, { uid, gids: [gid, ...groups] })
  }

  onDisk(path: string): string {
    return path
  }

  fileUser(name: string): FileIdentity {
    const own = process.geteuid?.() ?? -1
    const users = usersOfHost()
    // The host's own user needs no right to change users.
    if (!this.capabilities.users && findUser(users, name).uid !== own) this.#ids(name)
    const { uid, gid } = findUser(users, name)
    return { name, uid, gids: [gid, ...groupsOfHost(name)], all: uid === 0, owns: true }
  }

  async pids(): Promise<readonly number[]> {
    return this.#group === undefined ? [...this.#members(readProcessTable())] : this.#group.pids()
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

  #commands(table: ReadonlyMap<number, ProcessRow>): Set<number> {
    const members = this.#members(table)
    if (this.#spawner !== undefined) members.delete(this.#spawner.pid)
    return members
  }

  #members(table: ReadonlyMap<number, ProcessRow>): Set<number> {
    const marked = markedBy(this.#ownerTag, table.keys())
    return new Set([...marked, ...descendantsOf(marked, table)])
  }

  connect(port: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: 'localhost', autoSelectFamily: true })
      socket.once('connect', () => resolve(socket))
      socket.once('error', reject)
    })
  }

  listen(port: number): Promise<Server> {
    return new Promise((resolve, reject) => {
      const server = createServer()
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve(server))
    })
  }

  pause(): Promise<void> {
    return this.#freezing.pause()
  }

  resume(): Promise<void> {
    return this.#freezing.resume()
  }

  onLost(): void {}

  async close(): Promise<void> {
    this.#closing = true
    this.#spawner?.expectEnd()
    await this.#freezing.close()
    try {
      await this.#group?.kill()
      await killMembers((table) => this.#members(table))
      await this.#group?.remove()
    } finally {
      this.#counters?.close()
      this.#spawner?.close()
      this.#guard.end()
    }
  }
}

function userNamed(user: string): User {
  if (process.getuid?.() !== 0)
    throw new VitrineError(
      'user_unknown',
      `Cannot run as "${user}": only a host that runs as root can change users.`,
    )
  return findUser(usersOfHost(), user)
}
