import type { EventInput, JournalEvent } from '@vitrine/protocol'
import type { Redactor } from '../redact/redactor.ts'

/** How long an event may wait for the rest of what might be a secret. */
const holdMs = 200

/** A run of events that continue each other: the output of a process, the messages of an agent. */
export interface JournalStream {
  /** Like `append`. An event whose end might be the beginning of a secret waits for the next, 200 ms at most. */
  append(events: readonly EventInput[]): Promise<readonly JournalEvent[]>
  /** Nothing follows: what is held back is committed. Call it before what must come after, such as an exit. */
  end(): Promise<void>
}

interface Waiting {
  readonly input: EventInput
  resolve(event: JournalEvent): void
  reject(error: unknown): void
}

export interface HeldStreamHost {
  readonly redactor: Redactor
  check(events: readonly EventInput[]): void
  /** Appends events whose data is already redacted. */
  append(events: readonly EventInput[]): Promise<readonly JournalEvent[]>
}

/** Secrets that are split over events are masked because whole events wait until their end is known to be harmless. */
export class HeldStream implements JournalStream {
  readonly #host: HeldStreamHost
  readonly #mask: ReturnType<Redactor['stream']>
  readonly #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(host: HeldStreamHost) {
    this.#host = host
    this.#mask = host.redactor.stream()
  }

  async append(events: readonly EventInput[]): Promise<readonly JournalEvent[]> {
    this.#host.check(events)
    const committed = events.map(
      (input) =>
        new Promise<JournalEvent>((resolve, reject) => this.#waiting.push({ input, resolve, reject })),
    )
    const ready = []
    let holding = false
    for (const { data } of events) {
      const step = this.#mask.push(data ?? {})
      ready.push(...step.ready)
      holding = step.holding
    }
    clearTimeout(this.#timer)
    this.#timer = holding ? setTimeout(() => this.#commit(this.#mask.release()), holdMs) : undefined
    this.#commit(ready)
    return Promise.all(committed)
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#commit(this.#mask.end())
  }

  #commit(ready: readonly unknown[]): Promise<void> {
    if (ready.length === 0) return Promise.resolve()
    const batch = this.#waiting.splice(0, ready.length)
    const events = batch.map(({ input }, index) => ({
      ...input,
      data: ready[index] as NonNullable<EventInput['data']>,
    }))
    return this.#host.append(events).then(
      (committed) => {
        for (const [index, { resolve }] of batch.entries()) resolve(committed[index]!)
      },
      (error: unknown) => {
        for (const { reject } of batch) reject(error)
      },
    )
  }
}
