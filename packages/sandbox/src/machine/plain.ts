import { connect, createServer, type Server, type Socket } from 'node:net'
import { type Capabilities, VitrineError } from '@vitrine/protocol'
import type { CgroupAccess } from '../cgroups/access.ts'
import type { Cgroup } from '../cgroups/cgroup.ts'
import type { CgroupLimits } from '../cgroups/limits.ts'
import { type Guarding, guardSandbox, hostMarker } from '../guard.ts'
import { machineProgram } from '../native.ts'
import { launchEntered } from './entered.ts'
import { environmentOfHost } from './environment.ts'
import { checkWorkingDirectory, findProgram } from './find-program.ts'
import { killMembers, send } from './kill-tree.ts'
import { groupFolders, limitedGroup, limitKinds } from './limits.ts'
import type { Degradation, Launch, Launched, Machine } from './machine.ts'
import { startWithPipes } from './pipes.ts'
import { carriesMarker, descendantsOf, type ProcessRow, readProcessTable } from './process-table.ts'
import { markedBy, sandboxMarker } from './survivors.ts'
import { findUser, usersOfHost } from './users.ts'

export interface PlainOptions {
  readonly id: string
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  readonly limits: CgroupLimits
  readonly cgroups: CgroupAccess
}

const processVariable = 'VITRINE_PROCESS'

/** Plain processes of the host, each in a session of its own: nothing is hidden from them. */
export async function plainMachine(options: PlainOptions): Promise<Machine> {
  const { group, degraded } = await limitedGroup(options.cgroups, options.id, options.limits)
  const guarding = guardSandbox(groupFolders(group))
  return new PlainMachine(options, group, degraded, guarding)
}

class PlainMachine implements Machine {
  readonly root: string
  readonly home: string
  readonly places: readonly string[]
  readonly capabilities: Capabilities
  readonly degraded: readonly Degradation[]
  readonly environment: Readonly<Record<string, string>>
  readonly netFolder = '/proc/net'
  readonly sharesLoopback = true
  readonly #group: Cgroup | undefined
  readonly #guarding: Guarding
  readonly #id: string
  readonly #canFreeze: boolean
  #launches = 0

  constructor(
    { id, root, home, env, cgroups }: PlainOptions,
    group: Cgroup | undefined,
    degraded: readonly Degradation[],
    guarding: Guarding,
  ) {
    this.root = root
    this.home = home
    this.places = [root, home, '/tmp']
    this.#group = group
    this.#guarding = guarding
    this.#id = id
    this.#canFreeze = group !== undefined && cgroups.freeze
    this.environment = {
      ...environmentOfHost(process.env),
      HOME: home,
      ...env,
    }
    this.degraded = [
      {
        what: 'isolation',
        reason:
          'Commands run as plain processes of the host: they can read and change what its user can, the journal included.',
      },
      ...(guarding.present
        ? []
        : [{ what: 'guard', reason: 'No guard process is to be had on this platform.' }]),
      ...degraded,
    ]
    this.capabilities = {
      isolation: 'none',
      killTree: 'best-effort',
      network: ['host'],
      limits: limitKinds(cgroups),
      terminals: machineProgram() !== undefined,
      pause: this.#canFreeze ? 'freezer' : 'signals',
      watching: 'none',
      users: process.getuid?.() === 0,
      snapshots: false,
    }
  }

  async launch(launch: Launch): Promise<Launched> {
    this.#launches += 1
    const mark = `${this.#launches}.${process.pid}`
    const env = { ...launch.env, ...hostMarker, ...sandboxMarker(this.#id), [processVariable]: mark }
    const marked = { ...launch, env }
    return launch.tty === undefined
      ? this.#launchPlainly(marked, `${processVariable}=${mark}`)
      : this.#launchInTerminal(marked)
  }

  async #launchPlainly(launch: Launch, marker: string): Promise<Launched> {
    const { argv, cwd, env } = launch
    const [file = '', ...args] = argv
    const ids = launch.user === undefined ? undefined : this.#ids(launch.user)
    const { pid, pipes, ended } = await startWithPipes({ file, args, cwd, env, ids }, launch, {
      reports: false,
    }).catch((error: unknown) => {
      // The kernel's answer does not tell a missing folder from a missing program; looking does.
      checkWorkingDirectory(launch)
      findProgram(launch)
      throw error
    })
    this.#group?.join(pid)
    const members = (table: ReadonlyMap<number, ProcessRow>) => treeOf(pid, marker, table)
    return {
      pid,
      pipes,
      ended,
      signal: (name, reach) => {
        if (reach === 'program') send(pid, name)
        else for (const member of members(readProcessTable())) send(member, name)
      },
      killTree: () => killMembers(members),
    }
  }

  #launchInTerminal(launch: Launch): Promise<Launched> {
    checkWorkingDirectory(launch)
    const program = machineProgram()
    if (program === undefined)
      throw new VitrineError('unsupported', `There are no terminals on ${process.platform}-${process.arch}.`)
    const ids = launch.user === undefined ? undefined : this.#ids(launch.user)
    const orders = [
      'privileges=keep',
      ...(ids === undefined ? [] : [`uid=${ids.uid}`, `gid=${ids.gid}`, `terminal-owner=${ids.uid}`]),
      ...(this.#group?.paths ?? []).map((path) => `cgroup=${path}`),
    ]
    return launchEntered({ program, orders, multiplexer: '/dev/ptmx' }, launch, [])
  }

  #ids(user: string): { uid: number; gid: number } {
    if (!this.capabilities.users)
      throw new VitrineError('user_unknown', `Only a host that runs as root can run as "${user}".`)
    const { uid, gid } = findUser(usersOfHost(), user)
    return { uid, gid }
  }

  async pids(): Promise<readonly number[]> {
    return this.#group === undefined ? [...this.#members(readProcessTable())] : this.#group.pids()
  }

  #members(table: ReadonlyMap<number, ProcessRow>): Set<number> {
    const marked = markedBy(this.#id, table.keys())
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

  async pause(): Promise<void> {
    if (this.#canFreeze) await this.#group?.freeze()
    else for (const pid of await this.pids()) send(pid, 'SIGSTOP')
  }

  async resume(): Promise<void> {
    if (this.#canFreeze) await this.#group?.thaw()
    else for (const pid of await this.pids()) send(pid, 'SIGCONT')
  }

  onLost(): void {}

  async close(): Promise<void> {
    try {
      await this.#group?.kill()
      await killMembers((table) => this.#members(table))
      await this.#group?.remove()
    } finally {
      this.#guarding.end()
    }
  }
}

/** What a command started, as far as it can be told: its descendants, and whatever carries its marker. */
function treeOf(pid: number, marker: string, table: ReadonlyMap<number, ProcessRow>): Set<number> {
  const roots = [...table.keys()].filter((one) => one === pid || carriesMarker(one, marker))
  return new Set([...roots, ...descendantsOf(roots, table)])
}
