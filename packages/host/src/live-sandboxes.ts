import { setTimeout as sleep } from 'node:timers/promises'
import { killOrphans } from '@vitrine/sandbox'
import type { HostSandbox } from './host-sandbox.ts'

/** What has not ended by then is ended without a word. */
const closeMs = 2_500
/** How long is waited then for what is left to notice. */
const afterKillMs = 400

interface LiveSandbox {
  readonly starting: Promise<HostSandbox>
  sandbox?: HostSandbox
}

/** The sandboxes of a host that are here, or are about to be. */
export class LiveSandboxes {
  readonly #data: string
  readonly #live = new Map<string, LiveSandbox>()

  constructor(data: string) {
    this.#data = data
  }

  has(id: string): boolean {
    return this.#live.has(id)
  }

  /** Whether it runs at this moment. */
  isUp(id: string): boolean {
    return this.#live.get(id)?.sandbox?.isUp === true
  }

  /** One that is here, or will be in a moment; not one that is being closed, whose end is waited for. */
  async open(id: string): Promise<HostSandbox | undefined> {
    for (let live = this.#live.get(id); live !== undefined; live = this.#live.get(id)) {
      const sandbox = await live.starting
      if (sandbox.closing === undefined) return sandbox
      await sandbox.closing
    }
    return undefined
  }

  /** Nobody raises it twice: who comes second gets the first. */
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

  /** Ends them all and waits for more that ends with them, but not for ever: no process of theirs is left. */
  async closeAll(others: readonly Promise<unknown>[]): Promise<void> {
    const remaining = new Set(this.#live.keys())
    const closing = [...this.#live].map(async ([id, { starting: raising }]) => {
      // One that could not begin has ended what it had started.
      const sandbox = await raising.catch(() => undefined)
      await sandbox?.close()
      remaining.delete(id)
    })
    const closed = Promise.allSettled([...closing, ...others])
    await Promise.race([closed, sleep(closeMs, undefined, { ref: false })])
    if (remaining.size === 0) return
    await killOrphans([...remaining].map(workOf), this.#data).catch(() => undefined)
    await Promise.race([closed, sleep(afterKillMs, undefined, { ref: false })])
  }
}

/** Whatever carries the mark of a sandbox. */
function workOf(sandbox: string): Parameters<typeof killOrphans>[0][number] {
  return { journal: sandbox, kind: 'process', id: sandbox, startedAt: 0, context: { sandbox }, data: {} }
}
