import type { OpenOptions } from '@vitrine/agents'
import { type HostCallContext, type Sandbox, type Session, VitrineError } from '@vitrine/protocol'
import type { HostSession, HostSessions } from '../host-sandbox.ts'
import { callContextOf } from './call-context.ts'
import { type MirroredBy, mirroredCalls } from './mirrored-calls.ts'

type JoinedTurn = Awaited<ReturnType<HostSessions['prompt']>>
type Prompt = Parameters<HostSessions['prompt']>

interface RunningTurn extends JoinedTurn {
  readonly cancellation: AbortController
}

/** Turns that are found by their id; the oldest are forgotten first. */
const maxTurns = 2_000

/** The turns that were prompted through this host, of all handles of a sandbox. */
export class ProvidedTurns {
  readonly #turns = new Map<string, RunningTurn>()

  find(session: string, turn: string): RunningTurn | undefined {
    return this.#turns.get(`${session} ${turn}`)
  }

  add(session: string, running: RunningTurn): void {
    this.#turns.set(`${session} ${running.turn}`, running)
    const [oldest] = this.#turns.keys()
    if (this.#turns.size > maxTurns && oldest !== undefined) this.#turns.delete(oldest)
  }
}

/** The sessions of a provided sandbox: those of the sandbox itself. */
export class ProvidedSessions implements HostSessions {
  readonly #sandbox: Sandbox
  readonly #turns: ProvidedTurns
  readonly #by: MirroredBy

  constructor(sandbox: Sandbox, turns: ProvidedTurns, by: MirroredBy) {
    this.#sandbox = sandbox
    this.#turns = turns
    this.#by = by
  }

  async openSession(options: OpenOptions): Promise<HostSession> {
    const { context, ...rest } = options
    return this.#wrapped(await this.#as(context).openSession(rest))
  }

  list() {
    return this.#sandbox.sessions.list()
  }

  async get(id: string): Promise<HostSession> {
    return this.#wrapped(await this.#sandbox.sessions.get(id))
  }

  /** The state of a provided session is read from its journal. */
  look() {
    return undefined
  }

  async resume(
    id: string,
    { context, ...options }: Partial<Omit<OpenOptions, 'id' | 'agent'>> = {},
  ): Promise<HostSession> {
    return this.#wrapped(await this.#as(context).sessions.resume(id, options))
  }

  async resumeOrCreate({ context, ...options }: OpenOptions & { readonly id: string }): Promise<HostSession> {
    return this.#wrapped(await this.#as(context).sessions.resumeOrCreate(options))
  }

  async prompt(id: Prompt[0], content: Prompt[1], { turn, caller, signal }: Prompt[2]): Promise<JoinedTurn> {
    const known = this.#turns.find(id, turn)
    if (known !== undefined) return known
    const session = await this.#sandbox.sessions.get(id)
    const cancellation = new AbortController()
    const signals = [cancellation.signal, ...(signal ? [signal] : [])]
    const accepted = Promise.withResolvers<void>()
    const types = ['turn.started', 'prompt.queued'] as const
    const off = session.onEvent((event) => event.turn === turn && accepted.resolve(), { types })
    const context = { ...callContextOf(caller), turn, signal: AbortSignal.any(signals) }
    const result = mirroredCalls(session, 'session', this.#by).prompt(content, context)
    void result.then(() => accepted.resolve(), accepted.reject).finally(off)
    accepted.promise.catch(() => undefined)
    const running = { turn, accepted: accepted.promise, result, cancellation }
    this.#turns.add(id, running)
    return running
  }

  async turn(session: string, turn: string): Promise<JoinedTurn> {
    const known = this.#turns.find(session, turn)
    if (known !== undefined) return known
    throw new VitrineError('not_found', `There is no turn ${turn} in the session ${session}.`)
  }

  /** The sandbox itself ends its sessions. */
  async endAll(): Promise<void> {}
  async closeInterrupted(): Promise<void> {}

  #as(context: HostCallContext = {}): Sandbox {
    return this.#sandbox.as(callContextOf(context))
  }

  /** The session with the calls that only a host has. */
  #wrapped(session: Session): HostSession {
    const called = mirroredCalls(session, 'session', this.#by)
    const own: Partial<HostSession> = {
      cancelTurn: (turn) => this.#turns.find(session.id, turn)?.cancellation.abort(),
      fork: async ({ id } = {}) => this.#wrapped(await called.fork(id === undefined ? {} : { id })),
      close: () => called.close(),
    }
    // The cast holds: a host's session has the members of every session, and those in `own`.
    return new Proxy(called, {
      get: (target, name) => Reflect.get(own, name) ?? Reflect.get(target, name),
    }) as HostSession
  }
}
