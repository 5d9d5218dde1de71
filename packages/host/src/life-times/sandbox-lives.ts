import type { Journal, Store } from '@vitrine/journal'
import { toVitrineError } from '@vitrine/protocol'
import { Semaphore } from '@vitrine/protocol/primitives'
import type { SandboxRecord } from '@vitrine/protocol/records'
import { type Clock, systemClock } from './clock.ts'
import type { Due } from './next-due.ts'
import { type LifeFollower, type LifeRecord, SandboxLife } from './sandbox-life.ts'

export interface SandboxLivesOptions {
  readonly store: Pick<Store, 'lost'>
  /** The journal of the host. */
  readonly journal: Journal
  readonly clock?: Clock
}

/** Holds the life times of a host's sandboxes. */
export class SandboxLives {
  readonly #options: SandboxLivesOptions
  readonly #lives = new Map<string, SandboxLife>()
  #destroy: ((id: string) => Promise<void>) | undefined
  #isClosed = false
  /** Many may be overdue when a host opens. */
  readonly #destroys = new Semaphore(4, Number.POSITIVE_INFINITY)

  constructor(options: SandboxLivesOptions) {
    this.#options = options
    // A host that was taken over must not end the sandboxes of the next one.
    options.store.lost.addEventListener('abort', () => this.close(), { once: true })
  }

  /** Begins with the sandboxes on record: one that came due while no host ran is destroyed now. */
  open(
    records: readonly (LifeRecord & Pick<SandboxRecord, 'state'>)[],
    destroy: (id: string) => Promise<void>,
  ): void {
    this.#destroy = destroy
    for (const record of records) if (record.state !== 'destroyed') this.add(record)
  }

  add(record: LifeRecord): void {
    if (hasLifeTimes(record)) this.#lifeOf(record).check()
  }

  remove(id: string): void {
    this.#lives.get(id)?.close()
    this.#lives.delete(id)
  }

  /** Follows a sandbox that starts; undefined if its host never stops it. */
  follow(record: LifeRecord, journal: Journal): LifeFollower | undefined {
    return isStoppable(record) ? this.#lifeOf(record).follow(journal) : undefined
  }

  close(): void {
    this.#isClosed = true
    for (const id of [...this.#lives.keys()]) this.remove(id)
  }

  #lifeOf(record: LifeRecord): SandboxLife {
    const { id } = record
    const known = this.#lives.get(id)
    if (known !== undefined) return known
    const life = new SandboxLife(record, {
      clock: this.#options.clock ?? systemClock,
      destroy: () => this.#destroyInTurn(id),
      onError: (due, error) => this.#report(id, due, error),
    })
    this.#lives.set(id, life)
    // A start that the close of the host overtakes.
    if (this.#isClosed) life.close()
    return life
  }

  async #destroyInTurn(id: string): Promise<void> {
    const release = await this.#destroys.acquire()
    try {
      if (!this.#isClosed) await this.#destroy?.(id)
    } finally {
      release?.()
    }
  }

  #report(sandbox: string, { reason }: Due, error: unknown): void {
    // A removed one has ended otherwise.
    if (!this.#lives.has(sandbox)) return
    const { code: errorCode, message } = toVitrineError(error)
    const text = `The sandbox ${sandbox} could not be ended (${reason}): ${message}`
    const data = { level: 'error', message: text, sandbox, errorCode }
    void this.#options.journal.append([{ type: 'log.message', data }]).catch(() => undefined)
  }
}

function isStoppable({ idleStopMs, maxAgeMs }: LifeRecord): boolean {
  return idleStopMs !== undefined || maxAgeMs !== undefined
}

function hasLifeTimes(record: LifeRecord): boolean {
  return record.ttlMs !== undefined || isStoppable(record)
}
