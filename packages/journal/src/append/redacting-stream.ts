import { setTimeout as sleep } from 'node:timers/promises'
import {
  type EventContext,
  type EventInput,
  isVitrineError,
  type JournalEvent,
  type JsonObject,
} from '@vitrine/protocol'
import { Serial } from '@vitrine/protocol/primitives'
import type { Redactor } from '../redact/redactor.ts'

/** How long an event is held back because its end may be the beginning of a secret. */
const holdMs = 200
const retryMs = 100

export interface StreamOptions {
  /** Retry appends that a failing or overloaded store rejects, in order, until they are committed. */
  readonly retryWhileFailing?: boolean
  /**
   * The channels of an event; by default all have the same. A text continues in the next event of its channel only, so
   * that a secret is masked also when it is split and events of another channel come in between. An event of several
   * channels continues each of them.
   */
  channelOf?(event: EventInput): string | readonly string[]
}

/** Events that continue each other: the output of a process, the messages of an agent. */
export interface JournalStream {
  /** Like `append`. An event whose end may be the beginning of a secret is held until the next one, 200 ms at most. */
  append(events: readonly EventInput[]): Promise<readonly JournalEvent[]>
  /** Commits the events held back. Call it before appending an event that must come after them, such as an exit. */
  end(): Promise<void>
}

/** One call of `append`. Its events that become ready together are committed or rejected together. */
interface AppendCall {
  readonly context: EventContext
  readonly op: string | undefined
  readonly since: number
  readonly committed: JournalEvent[]
  readonly events: number
  resolve(events: readonly JournalEvent[]): void
  reject(error: unknown): void
}

interface HeldEvent {
  readonly event: EventInput
  readonly call: AppendCall
}

export interface RedactingStreamHost {
  readonly redactor: Redactor
  readonly retryWhileFailing: boolean
  channelOf(event: EventInput): string | readonly string[]
  check(events: readonly EventInput[]): void
  /** The context of an event that is appended now, and the operation around it. */
  writer(): { readonly context: EventContext; readonly op?: string }
  /** Reduces redacted data by the payload policy. */
  policed(type: string, data: JsonObject, op: string | undefined): JsonObject
  /** Appends events whose data is final and whose context is complete. */
  append(events: readonly EventInput[]): Promise<readonly JournalEvent[]>
}

/** Masks secrets that are split over events: holds an event back until its end cannot be the beginning of a secret. */
export class RedactingStream implements JournalStream {
  readonly #host: RedactingStreamHost
  readonly #mask: ReturnType<Redactor['stream']>
  readonly #held: HeldEvent[] = []
  readonly #sends = new Serial()
  #timer: NodeJS.Timeout | undefined
  /** The next send, which takes the whole outbox; undefined once it has begun. */
  #nextSend: Promise<void> | undefined
  #outbox: { readonly batch: readonly HeldEvent[]; readonly events: readonly EventInput[] }[] = []

  constructor(host: RedactingStreamHost) {
    this.#host = host
    this.#mask = host.redactor.stream()
  }

  async append(events: readonly EventInput[]): Promise<readonly JournalEvent[]> {
    this.#host.check(events)
    if (events.length === 0) return []
    const { promise, resolve, reject } = Promise.withResolvers<readonly JournalEvent[]>()
    const { context, op } = this.#host.writer()
    const call: AppendCall = {
      context,
      op,
      since: performance.now(),
      committed: [],
      events: events.length,
      resolve,
      reject,
    }
    const ready = []
    for (const event of events) {
      this.#held.push({ event, call })
      for (const data of this.#mask.push(event.data ?? {}, this.#host.channelOf(event)).ready)
        ready.push(data)
    }
    void this.#commit(ready)
    return promise
  }

  async end(): Promise<void> {
    await this.#commit(this.#mask.end())
  }

  async #commit(ready: readonly unknown[]): Promise<void> {
    const batch = this.#held.splice(0, ready.length)
    this.#scheduleRelease()
    const sent: Promise<void>[] = []
    for (let from = 0; from < batch.length; ) {
      let to = from + 1
      while (batch[to]?.call === batch[from]!.call) to += 1
      sent.push(this.#send(batch.slice(from, to), ready.slice(from, to)))
      from = to
    }
    await Promise.all(sent)
  }

  /** Starts the timer that releases the events held back; the oldest one decides when. */
  #scheduleRelease(): void {
    clearTimeout(this.#timer)
    const [first] = this.#held
    if (first === undefined) return
    const left = Math.max(0, first.call.since + holdMs - performance.now())
    this.#timer = setTimeout(() => void this.#commit(this.#mask.release()), left)
  }

  #send(batch: readonly HeldEvent[], data: readonly unknown[]): Promise<void> {
    const events = batch.map(({ event, call }, index) => ({
      ...call.context,
      ...event,
      // The check made sure that data is an object, and the mask of an object is an object.
      data: this.#host.policed(event.type, data[index] as JsonObject, call.op),
    }))
    if (!this.#host.retryWhileFailing) return settleCalls(batch, this.#host.append(events))
    this.#outbox.push({ batch, events })
    this.#nextSend ??= this.#sends.run(() => this.#sendOutbox())
    return this.#nextSend
  }

  /**
   * The queued events are already masked, so a retry must send exactly these. Later events wait until they are
   * committed or rejected, and are then sent in one append.
   */
  async #sendOutbox(): Promise<void> {
    const sending = this.#outbox
    this.#outbox = []
    this.#nextSend = undefined
    const all = sending.flatMap(({ events }) => events)
    await settleCalls(
      sending.flatMap(({ batch }) => batch),
      this.#appendWithRetries(all),
    )
  }

  async #appendWithRetries(events: readonly EventInput[]): Promise<readonly JournalEvent[]> {
    for (;;) {
      try {
        return await this.#host.append(events)
      } catch (error) {
        if (!isVitrineError(error) || error.retryable !== true) throw error
        await sleep(retryMs)
      }
    }
  }
}

function settleCalls(batch: readonly HeldEvent[], appended: Promise<readonly JournalEvent[]>): Promise<void> {
  return appended.then(
    (committed) => {
      for (const [index, { call }] of batch.entries()) {
        call.committed.push(committed[index]!)
        if (call.committed.length === call.events) call.resolve(call.committed)
      }
    },
    (error: unknown) => {
      for (const { call } of batch) call.reject(error)
    },
  )
}
