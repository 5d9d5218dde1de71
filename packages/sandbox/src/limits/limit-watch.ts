import { isVitrineError, type ProcessExit, type ReachedLimit, VitrineError } from '@vitrine/protocol'
import { type LimitHits, latestHits } from '../cgroups/limit-hits.ts'
import type { DiskAccount } from '../disk/disk-account.ts'
import type { Launch, Launched } from '../machine/machine.ts'
import { withoutOperation } from '../without-operation.ts'
import { FullFileSystems } from './full-file-system.ts'
import { LimitReports } from './limit-reports.ts'
import { reachedLimit } from './reached-limit.ts'
import {
  type CommandTree,
  commandTrees,
  isSameTree,
  leftBehind,
  startedAfter,
  treesUsingUp,
} from './trees.ts'
import type { WatchedProcess, WatchedSandbox } from './watched-sandbox.ts'

const lookMs = 250
const idleLookMs = 2_000
/** After this many looks in a row that found the processes used up, the tree that uses them is ended. */
const patience = 8
/** Of the processes: a shell that could not fork waits before it tries again. */
const usedUp = 0.95
const attempts = 3

type LimitName = ReachedLimit['limit']

/**
 * Notices when a sandbox reaches a limit, records it, and ends what uses a limit up: the kernel chooses a process when
 * memory runs out; here the largest tree is ended when processes run out, and all when disk space does.
 */
export class LimitWatch {
  readonly #sandbox: WatchedSandbox
  readonly #limits: { readonly [Name in LimitName]?: number }
  readonly #reports: LimitReports
  readonly #fileSystems: FullFileSystems
  /** The processes that were ended here, with the limit that is the reason. */
  readonly #ended = new Map<string, ReachedLimit>()
  #hits: LimitHits
  /** The hits until the last command whose exit named a limit. */
  #attributed: LimitHits = {}
  #looksWithoutPids = 0
  #timer: NodeJS.Timeout | undefined
  #isIdle = false
  #isLooking = false
  #isClosed = false

  constructor(sandbox: WatchedSandbox) {
    const { machine, disk } = sandbox
    this.#sandbox = sandbox
    this.#reports = new LimitReports(sandbox.journal)
    this.#limits = { ...machine.limits, ...(disk && { diskBytes: disk.max }) }
    this.#fileSystems = new FullFileSystems([
      ['tmpBytes', machine.tmpFolders],
      ...(disk?.volume === undefined
        ? []
        : ([
            // First: a volume that cannot grow may be full as well.
            ['disk', [disk.volume.onDisk]],
            ['diskBytes', [disk.volume.mountPoint]],
          ] as const)),
    ])
    this.#hits = machine.limitHits()
    this.#schedule(lookMs)
  }

  /** How often the limits were hit until now. */
  hits(): LimitHits {
    return this.#sandbox.machine.limitHits()
  }

  /** Starts a program. If the sandbox has no process left for it, the tree that uses them up is ended first. */
  async launch(launch: Launch, hits = this.hits()): Promise<Launched> {
    const { machine } = this.#sandbox
    if (this.#sandbox.disk?.account?.isOver) await this.#assertDiskSpace()
    let before = hits
    for (let attempt = 1; ; attempt++) {
      try {
        const launched = await machine.launch(launch)
        if (this.#isIdle) this.#schedule(lookMs)
        return launched
      } catch (error) {
        if (!isVitrineError(error) || error.code !== 'process_refused') throw error
        const [limit] = this.#risenSince(before)
        if (limit === undefined) throw error
        if (limit === 'pids' && attempt < attempts) {
          // Tried again also if nothing was left to end: the watch may have ended the tree meanwhile.
          await this.#endTreeUsingUp()
          before = this.hits()
          continue
        }
        const reached = this.#reached(limit)
        this.#reports.report(reached)
        const message = `"${launch.argv[0] ?? ''}" could not be started. ${reached.message}`
        throw new VitrineError('process_refused', message, { cause: error, details: error.details })
      }
    }
  }

  /** The limit that an ended command ran into. Processes that it left behind when it used up the limit are ended. */
  exited(
    process: WatchedProcess,
    before: LimitHits,
    { outcome }: ProcessExit,
  ): ReachedLimit | undefined | Promise<ReachedLimit | undefined> {
    const known = this.#ended.get(process.id)
    this.#ended.delete(process.id)
    // A command that runs for long must not answer for those that reached a limit before.
    const risen = this.#risenSince(latestHits(before, this.#attributed))
    if (known === undefined && risen.length === 0 && outcome === 'ok') return undefined
    const others = this.#sandbox.running().some(({ id }) => id !== process.id)
    const reached = known ?? this.#cause(process, outcome === 'ok' && others ? [] : risen, outcome)
    if (reached === undefined) return undefined
    this.#attributed = this.hits()
    if (known === undefined) this.#reports.report(reached, process.id)
    return risen.includes('pids') ? this.#endLeftBehind(process).then(() => reached) : reached
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#sandbox.disk?.account?.close()
  }

  #cause(
    { began }: WatchedProcess,
    [limit]: readonly LimitName[],
    outcome: ProcessExit['outcome'],
  ): ReachedLimit | undefined {
    if (limit !== undefined) return this.#reached(limit)
    if (outcome === 'ok') return undefined
    this.#findFull()
    const full = this.#fileSystems.fullSince(began)
    return full && this.#reached(full)
  }

  #risenSince(before: LimitHits): LimitName[] {
    const now = this.#sandbox.machine.limitHits()
    return (['memoryBytes', 'pids'] as const).filter(
      (name) => this.#limits[name] !== undefined && (now[name] ?? 0) > (before[name] ?? 0),
    )
  }

  #reached(limit: LimitName): ReachedLimit {
    return reachedLimit(limit, this.#limits[limit] ?? 0)
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    this.#isIdle = ms === idleLookMs
    this.#timer = withoutOperation(() => setTimeout(() => void this.#round(), ms)).unref()
  }

  async #round(): Promise<void> {
    if (this.#isLooking || this.#isClosed) return
    this.#isLooking = true
    try {
      if (!this.#sandbox.isPaused()) await this.#look()
    } catch {
      // A sandbox that stops meanwhile has no processes to look at.
    } finally {
      this.#isLooking = false
      this.#schedule(this.#sandbox.running().length > 0 || this.#reports.isAnyOngoing ? lookMs : idleLookMs)
    }
  }

  async #look(): Promise<void> {
    const risen = this.#risenSince(this.#hits)
    this.#hits = this.#sandbox.machine.limitHits()
    for (const limit of ['memoryBytes', 'pids'] as const)
      if (risen.includes(limit)) this.#reports.report(this.#reached(limit), this.#onlyProcess())
      else if (limit !== 'pids' || !this.#isUsedUp()) this.#reports.end(limit)
    this.#looksWithoutPids = this.#reports.isOngoing('pids') ? this.#looksWithoutPids + 1 : 0
    if (this.#looksWithoutPids >= patience) {
      this.#looksWithoutPids = 0
      await this.#endTreeUsingUp()
    }
    for (const limit of this.#findFull()) this.#reports.report(this.#reached(limit), this.#onlyProcess())
    await this.#lookAtAccount()
  }

  #isUsedUp(): boolean {
    const { pids } = this.#limits
    return pids !== undefined && (this.#sandbox.machine.pidsInUse() ?? 0) >= pids * usedUp
  }

  /** The file systems that are full now. */
  #findFull(): readonly LimitName[] {
    const { full, free } = this.#fileSystems.look()
    for (const limit of free) this.#reports.end(limit)
    return full
  }

  #onlyProcess(): string | undefined {
    const [only, ...others] = this.#sandbox.running()
    return others.length === 0 ? only?.id : undefined
  }

  #tops(): Map<number, string> {
    return new Map(this.#sandbox.running().map(({ top, id }) => [top, id]))
  }

  /** Ends the tree that uses up the processes. */
  async #endTreeUsingUp(): Promise<void> {
    const max = this.#limits.pids ?? 0
    let chosen: readonly CommandTree[] | undefined
    await this.#sandbox.machine.killInside((inside, table) => {
      const trees = commandTrees(inside, table, this.#tops())
      const isFirst = chosen === undefined
      chosen ??= treesUsingUp(trees, max)
      const pids = trees
        .filter((tree) => chosen?.some((one) => isSameTree(one, tree)))
        .flatMap((tree) => tree.pids)
      if (isFirst) this.#recordEnd(this.#reached('pids'), chosen, pids.length)
      return pids
    })
  }

  /** Records what is about to be killed: the end of a command is reported at once. */
  #recordEnd(
    reached: ReachedLimit,
    trees: readonly { readonly process?: string }[],
    ended: number,
    data: { readonly bytes?: number } = {},
  ): void {
    const processes = trees.flatMap(({ process }) => process ?? [])
    for (const process of processes) this.#ended.set(process, reached)
    if (ended > 0 || reached.limit === 'diskBytes')
      this.#reports.report(reached, processes.length === 1 ? processes[0] : undefined, { ...data, ended })
  }

  /** Ends what a command left behind that started after it. */
  async #endLeftBehind({ id, top, startedAt }: WatchedProcess): Promise<void> {
    if (startedAt < 0 || this.#sandbox.isPaused()) return
    await this.#sandbox.startsSettled()
    const ended = await this.#sandbox.machine
      .killInside((inside, table) => {
        const tops = this.#tops()
        tops.delete(top)
        return leftBehind(commandTrees(inside, table, tops))
          .flatMap(({ pids }) => pids)
          .filter((pid) => startedAfter(inside.get(pid), { pid: top, startedAt }))
      })
      .catch(() => 0)
    if (ended > 0) this.#reports.report(this.#reached('pids'), id, { ended })
  }

  async #lookAtAccount(): Promise<void> {
    const { account } = this.#sandbox.disk ?? {}
    if (account === undefined || !account.isDue(this.#isIdle)) return
    await account.measure()
    await this.#endAllIfOver(account)
  }

  async #endAllIfOver(account: DiskAccount): Promise<void> {
    if (!account.isOver) {
      this.#reports.end('diskBytes')
      return
    }
    const size = Number.isFinite(account.used) ? { bytes: account.used } : {}
    let isFirst = true
    await this.#sandbox.machine.killInside((inside) => {
      const tops = this.#tops()
      const pids = [...inside.keys()].filter((pid) => !tops.has(pid))
      const trees = [...tops.values()].map((process) => ({ process }))
      if (isFirst) this.#recordEnd(this.#reached('diskBytes'), trees, pids.length, size)
      isFirst = false
      return pids
    })
  }

  /** Refuses starts while the sandbox is over its limit of disk space; measures again first. */
  async #assertDiskSpace(): Promise<void> {
    const { account } = this.#sandbox.disk ?? {}
    if (account?.isOver !== true) return
    if (!(await account.measure())) {
      this.#reports.end('diskBytes')
      return
    }
    this.#reports.report(this.#reached('diskBytes'))
    throw new VitrineError(
      'disk_limit',
      `Workspace, HOME and writable binds of the sandbox hold ${account.used} bytes, and may hold ${account.max}: no command starts until files are deleted.`,
      { details: { limit: 'diskBytes', max: account.max, bytes: account.used } },
    )
  }
}
