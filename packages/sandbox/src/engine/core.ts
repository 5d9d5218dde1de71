import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { removeFolder } from '@vitrine/archives'
import type { Journal, Store } from '@vitrine/journal'
import {
  type Capabilities,
  type Isolation,
  isVitrineError,
  type MachineLimits,
  toVitrineError,
  VitrineError,
} from '@vitrine/protocol'
import { cancelled, Serial, settledWithin } from '@vitrine/protocol/primitives'
import { HomeFiles } from '../home/home-files.ts'
import { LimitWatch } from '../limits/limit-watch.ts'
import type { WantedLimits } from '../machine/limits.ts'
import type { Degradation, Machine } from '../machine/machine.ts'
import { readProcessTable } from '../machine/process-table.ts'
import { Forwards } from '../ports/forwards.ts'
import { ProcessTable } from '../processes/table.ts'
import { PtySessions } from '../terminals/pty-sessions.ts'
import { withoutOperation } from '../without-operation.ts'
import { ActiveTurns } from './active-turns.ts'
import { BeforeStop } from './before-stop.ts'
import { assertBindsUnchanged } from './bind-sources.ts'
import { chooseMachine } from './choose-machine.ts'
import { EgressGateway, processOfSocket } from './egress-gateway.ts'
import { recordDestroyed } from './record-destroyed.ts'
import { RecordedBatches } from './recorded-batches.ts'
import { SandboxDisk } from './sandbox-disk.ts'
import type { EngineState } from './sandbox-engine.ts'
import { SandboxFileSystem } from './sandbox-file-system.ts'
import { assertFoldersAllowed, type SandboxSettings } from './settings.ts'
import { SkipOnPersist } from './skip-on-persist.ts'
import { OpenStreams } from './streaming.ts'

/** How long a shutdown waits for the exit events of its processes to be written. */
const exitEventsMs = 5_000

/** The parts of a sandbox that exist only while its machine runs. */
export interface Running {
  readonly machine: Machine
  readonly gateway: EgressGateway | undefined
  readonly forwards: Forwards
  readonly files: SandboxFileSystem
  readonly watch: LimitWatch
}

/** The machine that a start has built. */
export interface BuiltMachine {
  readonly isolation: 'bubblewrap' | 'none'
  /** The path of the workspace, which exists. */
  readonly root: string
  /** The user that commands run as by default, where the host may choose it. */
  readonly user?: string
  /** The features that it does not have. */
  readonly degraded: readonly string[]
  /** The limits with their values, without defaults that this machine cannot enforce: the next one may. */
  readonly limits: MachineLimits
  /** The path whose device and inode identify the workspace. */
  readonly identifiedBy: string
}

/** The state of one sandbox, which all handles to it share. */
export class EngineCore {
  readonly id: string
  readonly store: Store
  readonly settings: SandboxSettings
  readonly table: ProcessTable
  readonly beforeStop = new BeforeStop()
  readonly terminals = new PtySessions()
  readonly skips: SkipOnPersist
  readonly streams = new OpenStreams()
  readonly turns = new ActiveTurns()
  readonly batches: RecordedBatches
  /** Runs one change of state at a time. */
  readonly #changes = new Serial()
  readonly home: HomeFiles
  #state: EngineState = 'stopped'
  #running: Running | undefined
  #capabilities: Capabilities | undefined
  #stopping: Promise<void> | undefined
  /** The folders that the start in progress has made. */
  #made: string[] = []
  #startSignal: AbortSignal | undefined
  #firstStartStep: (() => void) | undefined
  #finalStartStep: (() => Promise<void>) | undefined
  #onMachine: ((machine: BuiltMachine) => void) | undefined
  /** `auto` until the first machine is built: a later start must not fall back to less. */
  #isolation: Isolation
  /** A default that a machine has enforced is none any more: a later start must not enforce less. */
  #limits: WantedLimits
  readonly #disk: SandboxDisk
  #secrets: Readonly<Record<string, string>>
  /** For events that belong to no call. */
  readonly #journal: Journal
  readonly #onStoreLost = () => void this.#changes.run(() => this.#shutDown()).catch(() => undefined)

  constructor(
    id: string,
    store: Store,
    settings: SandboxSettings,
    journal: Journal,
    secrets: Readonly<Record<string, string>> = {},
  ) {
    this.id = id
    this.#journal = journal
    this.store = store
    this.settings = settings
    this.#secrets = secrets
    this.#isolation = settings.isolation
    this.#limits = settings.machineLimits
    this.#disk = new SandboxDisk(settings)
    this.batches = new RecordedBatches(journal, (text) => store.keyedHash(text))
    this.skips = new SkipOnPersist(settings)
    this.home = new HomeFiles(settings.folders)
    this.table = new ProcessTable(settings.processLimits)
  }

  get state(): EngineState {
    return this.#state
  }

  /** Variables of every command, whose values are masked. */
  get secrets(): Readonly<Record<string, string>> {
    return this.#secrets
  }

  /** Gives commands other values from now on. Programs that run keep theirs. The caller has the values masked. */
  replaceSecrets(values: Readonly<Record<string, string>>): void {
    this.#secrets = { ...this.#secrets, ...values }
  }

  get capabilities(): Capabilities {
    if (this.#capabilities === undefined) throw notRunning()
    return this.#capabilities
  }

  /** The path whose device and inode identify the workspace. */
  get identifiedBy(): string {
    return this.#disk.identifiedBy
  }

  /** The running parts, for a command; throws unless the sandbox runs and is not paused. */
  ready(): Running {
    if (this.#state === 'destroyed') throw sandboxDestroyed(this.id)
    if (this.#running === undefined) throw notRunning()
    if (this.#state === 'paused') throw new VitrineError('sandbox_paused', 'The sandbox is paused.')
    return this.#running
  }

  /** The running parts for a read, also while the sandbox is paused. */
  get running(): Running | undefined {
    return this.#running
  }

  /** The files, which stay available while the sandbox is paused. */
  files(): SandboxFileSystem {
    if (this.#running === undefined || this.#state !== 'paused') return this.ready().files
    return this.#running.files
  }

  /** Sets the first step of every start, before any folder exists. If it fails, the start fails. */
  setFirstStartStep(begin: () => void): void {
    this.#firstStartStep = begin
  }

  /** Sets the last step of every start. If it fails, the start fails. */
  setFinalStartStep(prepare: () => Promise<void>): void {
    this.#finalStartStep = prepare
  }

  /** Cancels the first start. */
  setStartSignal(signal: AbortSignal): void {
    this.#startSignal = signal
  }

  #assertNotCancelled(): void {
    const signal = this.#startSignal
    this.#startSignal = undefined
    if (signal?.aborted) throw cancelled(signal)
  }

  /** Sets the function that gets every built machine before a command runs in it. If it throws, the start fails. */
  setOnMachine(onMachine: (machine: BuiltMachine) => void): void {
    this.#onMachine = onMachine
  }

  start(journal: Journal): Promise<void> {
    return this.#changes.run(async () => {
      if (this.#state === 'destroyed') this.ready()
      if (this.#running !== undefined) return
      try {
        await journal.operate('prepare_workspace', {}, () => this.#prepareFolders())
        await this.#cleanHome(journal)
        this.#running = await this.#boot(journal)
        this.#assertNotCancelled()
        this.#state = 'running'
        this.#made = []
        this.store.lost.addEventListener('abort', this.#onStoreLost, { once: true })
        await this.#finalStartStep?.()
      } catch (error) {
        await this.#shutDown().catch(() => undefined)
        await this.#closeDisk()
        await this.#removeMade().catch(() => undefined)
        const { code, message } = toVitrineError(error)
        await journal.append([{ type: 'sandbox.failed', data: { errorCode: code, errorMessage: message } }])
        throw isVitrineError(error) ? error : toVitrineError(error, 'sandbox_start_failed')
      }
      const { capabilities } = this
      try {
        await journal.append([{ type: 'sandbox.ready', data: { capabilities } }])
      } catch (error) {
        // A machine whose start is not in the journal must not run.
        await this.#shutDown()
        throw error
      }
    })
  }

  /** Runs one stop at a time: a call during a stop awaits that stop and shares its outcome. */
  stopOnce(stop: () => Promise<void>): Promise<void> {
    this.#stopping ??= stop().finally(() => {
      this.#stopping = undefined
    })
    return this.#stopping
  }

  /** Ends everything without an event, for a sandbox whose start failed. */
  abandon(): Promise<void> {
    return this.#changes.run(() => this.#shutDown())
  }

  async #boot(journal: Journal): Promise<Running> {
    const { network, rootfs, egress, binds, folders } = this.settings
    const isolation = this.#isolation
    assertBindsUnchanged(folders.data, binds)
    const { machine, degraded: missing } = await journal.operate(
      'build_machine',
      { isolation, network, rootfs },
      () => chooseMachine(this.id, { ...this.settings, isolation, machineLimits: this.#limits }),
      { finish: ({ machine: { capabilities } }) => ({ isolation: capabilities.isolation }) },
    )
    const degraded = [...missing, ...this.#disk.degraded]
    this.#capabilities = {
      commands: true,
      // Paths are resolved through directory handles, which need /proc.
      files: process.platform === 'linux',
      ...machine.capabilities,
      limits: [...machine.capabilities.limits, this.#disk.kind],
      watching: watchingOf(this.settings),
    }
    try {
      this.#isolation = machine.capabilities.isolation === 'none' ? 'none' : 'bubblewrap'
      this.#limits = limitsOf(machine, this.#limits)
      this.#reportMachine(this.#isolation, degraded)
      warnOfFallback(degraded)
      if (degraded.length > 0)
        await journal.append(degraded.map((data) => ({ type: 'sandbox.degraded', data: { ...data } })))
      machine.onLost((reason) => void withoutOperation(() => this.#onMachineLost(machine, reason)))
      const gateway = machine.sharesLoopback ? undefined : this.#createGateway(machine)
      if (gateway !== undefined && egress.length > 0)
        await journal.operate('open_network', { egress }, () => gateway.allow(egress))
      const files = await this.#openFiles(machine, gateway)
      const forwards = new Forwards((port) => machine.connect(port))
      return { machine, gateway, files, forwards, watch: await this.#watchLimits(machine) }
    } catch (error) {
      await machine.close()
      throw error
    }
  }

  #reportMachine(isolation: BuiltMachine['isolation'], degraded: readonly Degradation[]): void {
    const { user, folders } = this.settings
    const { defaults, ...limits } = this.#limits
    const inForce = Object.entries(limits).filter(([name]) => !defaults.some((one) => one === name))
    this.#onMachine?.({
      isolation,
      root: folders.root,
      ...(user !== undefined && { user }),
      degraded: degraded.map(({ feature }) => feature),
      limits: Object.fromEntries(inForce),
      identifiedBy: this.identifiedBy,
    })
  }

  /** Its events belong to no call: not to the one that started the machine either. */
  #createGateway(machine: Machine): EgressGateway {
    return new EgressGateway(machine, this.#journal, (socket) =>
      processOfSocket(machine, socket, (pid) => this.#findProcess(pid)),
    )
  }

  /** Adds egress targets for its commands; does nothing where the machine has no egress gateway. */
  async allowEgress(journal: Journal, egress: readonly string[]): Promise<void> {
    const { gateway } = this.ready()
    const missing = gateway?.notYetAllowed(egress) ?? []
    if (missing.length === 0) return
    await journal.operate('open_network', { egress: missing }, () => gateway?.allow(missing))
  }

  async #openFiles(machine: Machine, gateway: EgressGateway | undefined): Promise<SandboxFileSystem> {
    try {
      return await SandboxFileSystem.open(
        { ...this.settings, volumeBytes: this.#disk.volumeBytes },
        machine,
        this.#journal,
        this.store,
        this.turns,
      )
    } catch (error) {
      await gateway?.close()
      throw error
    }
  }

  async #watchLimits(machine: Machine): Promise<LimitWatch> {
    const disk = await this.#disk.limit(machine)
    return new LimitWatch({
      machine,
      journal: this.#journal,
      running: () => this.table.running.map(({ current }) => current.watched),
      startsSettled: () => this.table.startsSettled(),
      isPaused: () => this.#state !== 'running',
      ...(disk && { disk }),
    })
  }

  async #prepareFolders(): Promise<void> {
    const { root, home, state, own } = this.settings.folders
    assertFoldersAllowed(this.settings.folders)
    this.#made = own.filter((folder) => !existsSync(folder))
    this.#firstStartStep?.()
    for (const folder of own) mkdirSync(folder, { recursive: true, mode: 0o700 })
    await this.#disk.open()
    mkdirSync(root, { recursive: true, mode: 0o755 })
    mkdirSync(home, { recursive: true, mode: 0o700 })
    mkdirSync(state, { recursive: true, mode: 0o700 })
  }

  /** Removes the login files that the last start left, before any program can read them. */
  async #cleanHome(journal: Journal): Promise<void> {
    const files = this.home.recorded
    if (files.length > 0) await journal.operate('clean_home', { files }, () => this.home.removeAll())
  }

  /** The table's process that a process inside the sandbox descends from. */
  processOf(pid: number): string | undefined {
    const rows = readProcessTable()
    const owners = new Map(this.table.running.map((entry) => [entry.current.top, entry.id]))
    for (let at = rows.get(pid); at !== undefined; at = rows.get(at.parent)) {
      const owner = owners.get(at.pid)
      if (owner !== undefined) return owner
    }
    return undefined
  }

  /** As `processOf`; a program may connect before the report of its start has been read. */
  async #findProcess(pid: number): Promise<string | undefined> {
    const found = this.processOf(pid)
    if (found !== undefined) return found
    await this.table.startsSettled()
    return this.processOf(pid)
  }

  /** Stops every process and the machine. */
  shutdown(journal: Journal, data: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#changes.run(async () => {
      if (this.#running === undefined) return
      await this.#shutDown()
      await journal.append([{ type: 'sandbox.stopped', data }])
    })
  }

  pause(journal: Journal): Promise<void> {
    return this.#changes.run(async () => {
      if (this.#state === 'paused') return
      await this.ready().machine.pause()
      this.#state = 'paused'
      await journal.append([{ type: 'sandbox.paused', data: {} }])
    })
  }

  resume(journal: Journal): Promise<void> {
    return this.#changes.run(async () => {
      if (this.#state !== 'paused') {
        this.ready()
        return
      }
      await this.#running?.machine.resume()
      this.#state = 'running'
      await journal.append([{ type: 'sandbox.resumed', data: {} }])
    })
  }

  /** Without a journal for a sandbox whose store has ended. */
  destroy(journal: Journal | undefined, data: Readonly<Record<string, unknown>> = {}): Promise<void> {
    return this.#changes.run(async () => {
      if (this.#state === 'destroyed') return
      await this.#shutDown()
      // A HOME that the caller chose stays; the sandbox's own is removed as a whole.
      const cleaned = this.home.removeAll()
      await (this.settings.folders.homeGiven ? cleaned : cleaned.catch(() => undefined))
      this.#state = 'destroyed'
      await this.#disk.remove()
      for (const folder of this.settings.folders.own) await removeFolder(folder)
      if (journal !== undefined) await recordDestroyed(journal, data)
    })
  }

  /** Marks running processes as cancelled by us, then shuts the machine down. */
  async #shutDown(): Promise<void> {
    const running = this.#running
    if (running === undefined) return
    this.#running = undefined
    this.#state = 'stopped'
    this.store.lost.removeEventListener('abort', this.#onStoreLost)
    const entries = this.table.cancelAll()
    const { machine, gateway, forwards, files, watch } = running
    watch.close()
    await files.flushBeforeShutdown()
    const [closed] = await Promise.allSettled([machine.close(), gateway?.close(), forwards.close()])
    const ended = Promise.allSettled(entries.map(({ exit }) => exit))
    await settledWithin(ended, exitEventsMs)
    await files.close()
    await this.streams.ended()
    await this.#closeDisk()
    if (closed.status === 'rejected') throw closed.reason
  }

  /** Removes the folders of a first start that failed before anything ran in them. */
  async #removeMade(): Promise<void> {
    const made = this.#made.splice(0)
    if (made.length === 0 || !(await this.store.isOwned())) return
    await this.#disk.remove()
    for (const folder of made) rmSync(folder, { recursive: true, force: true })
  }

  /** A host that was taken over leaves the volume to the next one, which may use it already. */
  async #closeDisk(): Promise<void> {
    if (await this.store.isOwned()) await this.#disk.close()
  }

  async #onMachineLost(machine: Machine, reason: string): Promise<void> {
    if (this.#running?.machine !== machine) return
    const errorMessage = `The sandbox's machine exited unexpectedly (${reason}).`
    await this.#journal
      .append([{ type: 'sandbox.failed', data: { errorCode: 'interrupted', errorMessage } }])
      .catch(() => undefined)
    await this.#changes.run(() => this.#shutDown())
  }
}

export function sandboxDestroyed(id: string): VitrineError {
  return new VitrineError('sandbox_destroyed', `The sandbox ${id} was destroyed.`)
}

/** `isolation: 'auto'` fell back to none. Warn on stderr: an event alone would be missed. */
function warnOfFallback(degraded: readonly Degradation[]): void {
  const fallback = degraded.find(({ feature }) => feature === 'bubblewrap')
  if (fallback !== undefined)
    process.emitWarning(`Commands run without isolation: ${fallback.reason}`, {
      code: 'VITRINE_NOT_ISOLATED',
    })
}

/** The limits for the next machine: those of this one. A default that it cannot enforce stays a default. */
function limitsOf({ limits }: Machine, wanted: WantedLimits): WantedLimits {
  return { ...wanted, defaults: wanted.defaults.filter((name) => !(name in limits)) }
}

function watchingOf({ watch }: SandboxSettings): Capabilities['watching'] {
  if (watch === undefined) return 'none'
  return watch.mode === 'native' ? 'native' : 'poll'
}

function notRunning(): VitrineError {
  return new VitrineError('sandbox_not_running', 'The sandbox is not running.')
}
