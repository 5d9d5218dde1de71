import { settledWithin } from '@vitrine/protocol/primitives'
import { killOrphans } from '@vitrine/sandbox'
import type { HostSandbox } from './host-sandbox.ts'

/** Time for sandboxes to close; then their processes are killed. */
const closeMs = 2_500
/** Time for the remaining closes to finish after the kill. */
const afterKillMs = 400

interface LiveSandbox {
  readonly starting: Promise<HostSandbox>
  sandbox?: HostSandbox
}

/** The sandboxes of a host that are live or starting. */
export class LiveSandboxes {
  readonly #data: string
  readonly #live = new Map<string, LiveSandbox>()

  constructor(data: string) {
    this.#data = data
  }

  has(id: string): boolean {
    return this.#live.has(id)
  }

  /** Whether the sandbox has a running or paused machine. */
  isUp(id: string): boolean {
    return this.up(id) !== undefined
  }

  /** Whether the sandbox is being started, by its creation, an attach or a call. */
  isStarting(id: string): boolean {
    const live = this.#live.get(id)
    return live !== undefined && (live.sandbox?.isInUse ?? true)
  }

  /** The sandbox, if it has a running or paused machine. */
  up(id: string): HostSandbox | undefined {
    const sandbox = this.#live.get(id)?.sandbox
    return sandbox?.isUp ? sandbox : undefined
  }

  /** Returns a sandbox that is live or starting. Waits for one that is closing to be gone. */
  async open(id: string): Promise<HostSandbox | undefined> {
    for (let live = this.#live.get(id); live !== undefined; live = this.#live.get(id)) {
      const sandbox = await live.starting
      if (sandbox.closing === undefined) return sandbox
      await sandbox.closing
    }
    return undefined
  }

  /** Returns a sandbox in any state, after its start has ended; undefined if that failed. */
  async started(id: string): Promise<HostSandbox | undefined> {
    return this.#live.get(id)?.starting.catch(() => undefined)
  }

  /** Starts a sandbox once: concurrent callers get the same one. */
  boot(id: string, start: (onClosed: () => void) => Promise<HostSandbox>): Promise<HostSandbox> {
    const existing = this.#live.get(id)
    if (existing !== undefined) return existing.starting
    const remove = () => {
      if (this.#live.get(id) === live) this.#live.delete(id)
    }
    const live: LiveSandbox = { starting: start(remove) }
    this.#live.set(id, live)
    live.starting.then((sandbox) => {
      live.sandbox = sandbox
    }, remove)
    return live.starting
  }

  /** Closes all sandboxes and waits for `others`, up to a time limit; then kills the processes that are left. */
  async closeAll(others: readonly Promise<unknown>[]): Promise<void> {
    const remaining = new Set(this.#live.keys())
    const closing = [...this.#live].map(async ([id, { starting: raising }]) => {
      // A failed start cleans up after itself.
      const sandbox = await raising.catch(() => undefined)
      await sandbox?.close()
      remaining.delete(id)
    })
    const closed = Promise.allSettled([...closing, ...others])
    await settledWithin(closed, closeMs)
    if (remaining.size === 0) return
    await killOrphans([...remaining].map(workOf), this.#data).catch(() => undefined)
    await settledWithin(closed, afterKillMs)
  }
}

/** Open work that matches every process with the sandbox's mark. */
function workOf(sandbox: string): Parameters<typeof killOrphans>[0][number] {
  return { journal: sandbox, kind: 'process', id: sandbox, startedAt: 0, context: { sandbox }, data: {} }
}
