import type { Journal } from '@vitrine/journal'
import type { LifeTimes } from '@vitrine/protocol'
import type { SandboxRecord } from '@vitrine/protocol/records'
import { type Activity, activityTypes, idleSince, nextActivity, noActivity } from './activity.ts'
import type { Clock } from './clock.ts'
import { DueTimer } from './due-timer.ts'
import { type AutoStopReason, type Due, nextDue } from './next-due.ts'
import { SandboxUses } from './sandbox-uses.ts'

/** A running sandbox that its host may stop until its next use. */
export interface AutoStoppable {
  /** Resolves to false if it is in use and is not stopped therefore. */
  autoStop(reason: AutoStopReason): Promise<boolean>
}

export interface SandboxLifeOptions {
  readonly clock: Clock
  destroy(): Promise<void>
  onError(due: Due, error: unknown): void
}

/** The part of a sandbox's record that its life times depend on. */
export type LifeRecord = LifeTimes & Pick<SandboxRecord, 'id' | 'createdAt'>

/** Holds the life times of one sandbox. */
export class SandboxLife {
  readonly #record: LifeRecord
  readonly #options: SandboxLifeOptions
  readonly #timer: DueTimer
  #activity: Activity = noActivity
  #uses: SandboxUses | undefined
  #sandbox: AutoStoppable | undefined

  constructor(record: LifeRecord, options: SandboxLifeOptions) {
    this.#record = record
    this.#options = options
    this.#timer = new DueTimer({
      clock: options.clock,
      due: () => this.#due(),
      end: (due) => this.#end(due).catch((error: unknown) => options.onError(due, error)),
    })
  }

  /** Ends the sandbox if it is due already, else when it will be. */
  check(): void {
    this.#timer.check()
  }

  /** Follows a sandbox from before its start until the returned function is called. */
  follow(journal: Journal): LifeFollower {
    const untap = journal.tap(
      (event) => {
        this.#activity = nextActivity(this.#activity, event, this.#options.clock.now())
        this.#timer.update()
      },
      { name: 'life times', types: activityTypes },
    )
    const uses = new SandboxUses(() => this.#onUsed())
    this.#uses = uses
    return {
      uses,
      use: (sandbox) => {
        this.#sandbox = sandbox
        this.#timer.update()
      },
      end: () => {
        untap()
        this.#activity = noActivity
        this.#uses = undefined
        this.#sandbox = undefined
      },
    }
  }

  close(): void {
    this.#timer.close()
  }

  #onUsed(): void {
    this.#activity = { ...this.#activity, changedAt: this.#options.clock.now() }
    this.#timer.update()
  }

  #due(): Due | undefined {
    const { createdAt } = this.#record
    const inUse = this.#uses === undefined || this.#uses.inFlight > 0
    return nextDue(this.#record, {
      createdAt: Date.parse(createdAt),
      startedAt: this.#sandbox && this.#activity.startedAt,
      idleSince: inUse ? undefined : idleSince(this.#activity),
    })
  }

  async #end({ reason }: Due): Promise<void> {
    if (reason === 'ttl') return this.#options.destroy()
    const isStopped = await this.#sandbox?.autoStop(reason)
    if (isStopped === false) this.#onUsed()
  }
}

export interface LifeFollower {
  /** The calls through its handles. */
  readonly uses: SandboxUses
  /** Gives the sandbox after its start. */
  use(sandbox: AutoStoppable): void
  end(): void
}
