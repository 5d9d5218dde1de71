import type { Journal } from '@vitrine/journal'
import type { Capabilities } from '@vitrine/protocol'
import { Serial } from '@vitrine/protocol/primitives'
import { BeforeStop } from '../engine/before-stop.ts'
import { sandboxDestroyed } from '../engine/core.ts'
import { recordDestroyed } from '../engine/record-destroyed.ts'
import type { RecordedBatches } from '../engine/recorded-batches.ts'
import type { EngineState } from '../engine/sandbox-engine.ts'

/** The function agents run in the host's process, so nothing separates them from it. */
export const eventOnlyCapabilities: Capabilities = {
  commands: false,
  files: false,
  isolation: 'none',
  killTree: 'best-effort',
  network: [],
  limits: [],
  terminals: false,
  pause: 'none',
  watching: 'none',
  users: false,
  snapshots: false,
}

/** The state of one event-only sandbox, which all handles to it share. */
export class EventOnlyState {
  readonly id: string
  readonly batches: RecordedBatches
  readonly beforeStop = new BeforeStop()
  /** Runs one change of state at a time. */
  readonly #changes = new Serial()
  #state: EngineState = 'stopped'
  #stopping: Promise<void> | undefined

  constructor(id: string, batches: RecordedBatches) {
    this.id = id
    this.batches = batches
  }

  get current(): EngineState {
    return this.#state
  }

  assertExists(): void {
    if (this.#state === 'destroyed') throw sandboxDestroyed(this.id)
  }

  start(journal: Journal): Promise<void> {
    return this.#changes.run(async () => {
      this.assertExists()
      if (this.#state === 'running') return
      await journal.append([{ type: 'sandbox.ready', data: { capabilities: eventOnlyCapabilities } }])
      this.#state = 'running'
    })
  }

  /** Runs one stop at a time: a call during a stop awaits that stop and shares its outcome. */
  stopOnce(stop: () => Promise<void>): Promise<void> {
    this.#stopping ??= stop().finally(() => {
      this.#stopping = undefined
    })
    return this.#stopping
  }

  shutdown(journal: Journal, reason: string): Promise<void> {
    return this.#changes.run(async () => {
      if (this.#state !== 'running') return
      this.#state = 'stopped'
      await journal.append([{ type: 'sandbox.stopped', data: { reason } }])
    })
  }

  destroy(journal: Journal, data: { readonly reason?: string }): Promise<void> {
    return this.#changes.run(async () => {
      if (this.#state === 'destroyed') return
      this.#state = 'destroyed'
      await recordDestroyed(journal, data)
    })
  }
}
