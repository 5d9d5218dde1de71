import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { constants } from 'node:os'
import { setImmediate as immediately } from 'node:timers/promises'
import { VitrineError } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import { detachChild } from '../detach-child.ts'
import { launchError, parseFailure } from './launch-errors.ts'
import type { Launch, Launched, WaitStatus } from './machine.ts'
import { type CommandIdentity, encodeRequest } from './request.ts'
import {
  killSupervised,
  type Supervisor,
  signalSupervised,
  stopSupervised,
  supervisorAt,
} from './supervised.ts'

/** The largest request that `vitrine-machine serve` accepts. */
const maxRequestBytes = 4 * 1024 * 1024

const reportMs = 500

interface PendingLaunch {
  readonly launch: Launch
  readonly streams: Socket[]
  supervisor: Supervisor
  started: boolean
  start(launched: Launched): void
  refuse(error: VitrineError): void
  end(status: WaitStatus): void
  readonly ended: Promise<WaitStatus>
}

export interface SpawnerOptions {
  /** Path of `vitrine-machine`. */
  readonly program: string
  /** The arguments of `vitrine-machine serve` for the sandbox's namespaces and filters. */
  readonly machineArgs: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Called with the pid of `vitrine-machine serve` before it starts any command. */
  readonly onStart: (pid: number) => void
}

/** Starts a sandbox's commands through one long-running `vitrine-machine serve`. */
export class Spawner {
  readonly #child: ChildProcess
  readonly #pending = new Map<number, PendingLaunch>()
  #requests = 0
  #closed = false
  #killExpected = false

  constructor({ program, machineArgs, env, onStart }: SpawnerOptions) {
    this.#child = spawn(program, ['serve', '3', ...machineArgs], {
      env,
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit', 'ipc'],
    })
    this.#child.on('error', () => this.#end())
    this.#child.once('exit', () => this.#end())
    this.#child.on('message', (message, handle) => this.#onMessage(message, handle))
    detachChild(this.#child)
    try {
      if (this.#child.pid !== undefined) onStart(this.#child.pid)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** The pid of `vitrine-machine serve`. */
  get pid(): number {
    return this.#child.pid ?? -1
  }

  /** False once `vitrine-machine serve` has ended. */
  get alive(): boolean {
    return !this.#closed
  }

  launch(launch: Launch, identity: CommandIdentity): Promise<Launched> {
    const { stdin } = this.#child
    if (this.#closed || stdin?.writable !== true)
      throw new VitrineError('sandbox_not_running', 'The sandbox has stopped.')
    this.#requests += 1
    const id = this.#requests
    const request = encodeRequest(id, launch, identity)
    if (request.length > maxRequestBytes) throw launchError('exec', constants.errno.E2BIG, 'request', launch)
    return new Promise((start, refuse) => {
      const { promise: ended, resolve: end } = Promise.withResolvers<WaitStatus>()
      this.#pending.set(id, {
        launch,
        streams: [],
        supervisor: { pid: 0, startedAt: -1 },
        started: false,
        start,
        refuse,
        ended,
        end,
      })
      // A pending launch keeps this process alive.
      if (this.#pending.size === 1) this.#child.channel?.ref()
      stdin.write(request)
    })
  }

  /** Announces that the machine is about to kill all commands, perhaps before their ends are reported. */
  expectEnd(): void {
    this.#killExpected = true
  }

  close(): void {
    this.#child.kill('SIGKILL')
  }

  #onMessage(message: unknown, handle: unknown): void {
    const { id, stream, supervisor, started, failed, ended } = parseReply(message)
    const pending = this.#pending.get(id)
    if (pending === undefined) {
      if (handle instanceof Socket) handle.destroy()
      return
    }
    if (stream !== undefined && handle instanceof Socket) pending.streams[stream] = handle
    if (supervisor !== undefined) pending.supervisor = supervisorAt(supervisor)
    if (started !== undefined) this.#started(id, pending, started)
    if (failed !== undefined) this.#refuse(id, pending, failed)
    if (ended !== undefined) this.#ended(id, pending, decodeWaitStatus(ended))
  }

  #started(id: number, pending: PendingLaunch, pid: number): void {
    if (pending.streams[1] === undefined || pending.streams[2] === undefined) {
      // This process had no free descriptor to receive the command's pipes.
      void killSupervised(pending.supervisor).catch(() => undefined)
      this.#refuse(id, pending, `fork ${constants.errno.EAGAIN} pipes`)
      return
    }
    pending.started = true
    pending.start(launchedOf(pending, pid, () => this.#ended(id, pending, killed)))
  }

  #ended(id: number, pending: PendingLaunch, status: WaitStatus): void {
    if (!this.#pending.has(id)) return
    this.#forget(id)
    pending.streams[0]?.destroy()
    // The supervisor was killed before it could report that the command has started.
    if (!pending.started) this.#started(id, pending, pending.supervisor.pid)
    pending.end(status)
  }

  #refuse(id: number, pending: PendingLaunch, failed: string): void {
    this.#forget(id)
    for (const stream of pending.streams) stream?.destroy()
    const { step, errno, what } = parseFailure(failed) ?? { step: 'start', errno: 0, what: failed }
    pending.refuse(launchError(step, errno, what, pending.launch))
  }

  #forget(id: number): void {
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#child.channel?.unref()
  }

  /** The wait statuses of open commands are lost; they are known only if we killed the commands ourselves. */
  #end(): void {
    this.#closed = true
    const status = this.#killExpected ? killed : { code: null, signal: null }
    for (const [id, pending] of this.#pending) {
      this.#forget(id)
      if (pending.started) pending.end(status)
      else {
        for (const stream of pending.streams) stream?.destroy()
        pending.refuse(endedBeforeStart())
      }
    }
  }
}

function endedBeforeStart(): VitrineError {
  return new VitrineError('sandbox_not_running', 'The sandbox stopped before the command started.')
}

const killed: WaitStatus = { code: null, signal: 'SIGKILL' }

function launchedOf(
  { supervisor, streams, ended, launch }: PendingLaunch,
  pid: number,
  onKilled: () => void,
): Launched {
  const [stdin, stdout, stderr] = streams
  if (stdout === undefined || stderr === undefined)
    throw new VitrineError('internal', 'A process was started without its pipes.')
  // A program may exit before it has read its input, which is not an error.
  stdin?.on('error', () => undefined)
  // An unread socket does not notice that its other end has closed.
  stdin?.resume()
  // While the sandbox is paused, `serve` reports no end: after a successful kill, assume SIGKILL.
  const awaitReport = async (signalled: boolean) => {
    if (!signalled) return
    await settledWithin(ended, reportMs)
    // A late timer fires before input that has arrived meanwhile, so let the event loop read that first.
    await immediately()
    await immediately()
    onKilled()
  }
  return {
    pid,
    top: supervisor.pid,
    startedAt: supervisor.startedAt,
    ended,
    pipes: { ...(launch.input && stdin !== undefined && { stdin }), stdout, stderr },
    signal: (name, scope) => signalSupervised(supervisor, name, scope),
    killTree: () => killSupervised(supervisor).then(awaitReport),
    stopTree: (graceMs) => stopSupervised(supervisor, graceMs).then(awaitReport),
  }
}

interface SpawnReply {
  readonly id: number
  readonly stream?: number
  readonly supervisor?: number
  readonly started?: number
  readonly failed?: string
  readonly ended?: number
}

function parseReply(message: unknown): SpawnReply {
  if (typeof message !== 'object' || message === null) return { id: 0 }
  const numberAt = (name: string) => {
    const value: unknown = Reflect.get(message, name)
    return typeof value === 'number' ? { [name]: value } : {}
  }
  // `vitrine-machine` names the supervisor `keeper` in its messages.
  const supervisor: unknown = Reflect.get(message, 'keeper')
  const failed: unknown = Reflect.get(message, 'failed')
  return {
    id: 0,
    ...numberAt('id'),
    ...numberAt('stream'),
    ...(typeof supervisor === 'number' && { supervisor }),
    ...numberAt('started'),
    ...numberAt('ended'),
    ...(typeof failed === 'string' && { failed }),
  }
}

const signalNames = new Map<number, string>(
  Object.entries(constants.signals).map(([name, value]) => [value, name]),
)

/** Decodes the wait status of the kernel. */
export function decodeWaitStatus(status: number): WaitStatus {
  const signal = status & 0x7f
  return signal === 0
    ? { code: (status >> 8) & 0xff, signal: null }
    : { code: null, signal: signalNames.get(signal) ?? `SIG${signal}` }
}
