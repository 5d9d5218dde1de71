import { isGap, type JournalFilter, type JournalItem, type TailOptions } from '@vitrine/protocol'
import { PullIterator, type PullSource } from '@vitrine/protocol/primitives'
import type { Query } from '../http/address.ts'
import { connectionBackoff } from '../http/backoff.ts'
import { isTransient } from '../http/failures.ts'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { dataOf, errorOf, type FrameReader, requestFrames } from '../streams/frame-reader.ts'
import type { Frame } from '../streams/sse-parser.ts'
import { deepFreeze } from './deep-freeze.ts'

export interface TailPlan {
  readonly path: readonly string[]
  readonly query: Query
  readonly after: string | undefined
  /** With `one`, repeated events are dropped by their `seq`; events of several journals have no common `seq`. */
  readonly journals: 'one' | 'all'
  /** Called when the server has sent a cursor. */
  onPositioned?(): void
  /** Whether the stream has an end that the server tells; otherwise every end is a lost connection. */
  readonly isFinite?: boolean
}

/** Options of `/events` that only pages have. */
const pageOnlyOptions = {
  before: undefined,
  at: undefined,
  order: undefined,
  limit: undefined,
  wait: undefined,
}

/** Tails `/events`. */
export function tail(
  http: HttpClient,
  options: TailOptions & JournalFilter & Pick<Partial<TailPlan>, 'onPositioned'>,
  scope?: 'all',
): AsyncIterableIterator<JournalItem, undefined> {
  // The server checks the remaining options.
  const { after, signal, onPositioned, ...filter } = options
  const query = withFields('tail', filter, {
    scope,
    ...(scope === undefined && { journals: undefined }),
    ...pageOnlyOptions,
  })
  const journals = scope ?? 'one'
  return openTail(
    http,
    { path: ['events'], query, after, journals, ...(onPositioned && { onPositioned }) },
    signal,
  )
}

export function openTail(
  http: HttpClient,
  plan: TailPlan,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<JournalItem, undefined> {
  const source = new ResumedSource(http, plan, (frame, data) => journalItem(frame, data, plan))
  // `now` is the moment of this call, not of the first `next`.
  if (plan.after === 'now' && !signal?.aborted) source.begin()
  return new PullIterator(source, signal)
}

/** An item of a stream and its position. */
export interface PlacedItem<Item> {
  readonly item: Item
  /** Where to continue after a lost connection. */
  readonly cursor: string | undefined
  /** Items with a `seq` that was already passed are dropped. */
  readonly seq: number | undefined
}

/** Continues after its cursor over any number of connections: no item twice, none missing. */
export class ResumedSource<Item> implements PullSource<Item> {
  readonly #http: HttpClient
  readonly #plan: Omit<TailPlan, 'journals'>
  readonly #place: (frame: Frame, data: unknown) => PlacedItem<Item> | undefined
  readonly #closed = new AbortController()
  readonly #backoff = connectionBackoff()
  #after: string | undefined
  #seq = 0
  #opening: Promise<FrameReader> | undefined

  constructor(
    http: HttpClient,
    plan: Omit<TailPlan, 'journals'>,
    place: (frame: Frame, data: unknown) => PlacedItem<Item> | undefined,
  ) {
    this.#http = http
    this.#plan = plan
    this.#place = place
    this.#after = plan.after
  }

  /** Connects and reads the first heartbeat, whose cursor is the position that `now` means. */
  begin(): void {
    this.#open()
      .then((frames) => frames.readAhead())
      // The first `next` throws the error.
      .catch(() => undefined)
  }

  async next(): Promise<Item | undefined> {
    while (!this.#closed.signal.aborted) {
      try {
        const frames = await this.#open()
        const frame = await frames.next()
        if (this.#isComplete(frame)) return undefined
        if (frame === undefined || frame.event === 'end') throw frames.cutError()
        const item = this.#read(frame)
        if (item !== undefined) return item
      } catch (error) {
        this.#drop()
        if (this.#closed.signal.aborted) break
        if (this.#http.closing.aborted || !isTransient(error)) throw error
        await this.#http.timing.sleep(this.#backoff.next(), this.#closedOrClosing())
      }
    }
    return undefined
  }

  close(): void {
    this.#closed.abort()
    this.#drop()
  }

  #open(): Promise<FrameReader> {
    const { path, query } = this.#plan
    this.#opening ??= requestFrames(this.#http, {
      path,
      query: { ...query, after: this.#after },
      until: this.#closed.signal,
    })
    return this.#opening
  }

  /** Closes the connection before another one is opened. */
  #drop(): void {
    this.#opening?.then(
      (frames) => frames.close(),
      () => undefined,
    )
    this.#opening = undefined
  }

  #closedOrClosing(): AbortSignal {
    return AbortSignal.any([this.#closed.signal, this.#http.closing])
  }

  #read(frame: Frame): Item | undefined {
    if (frame.event === 'error') throw errorOf(frame)
    const data = dataOf(frame)
    if (frame.event === 'heartbeat') {
      this.#moveTo(cursorIn(data))
      return undefined
    }
    const placed = this.#place(frame, data)
    if (placed === undefined) return undefined
    const { item, cursor, seq } = placed
    this.#moveTo(cursor)
    if (seq === undefined) return item
    if (seq <= this.#seq) return undefined
    this.#seq = seq
    return item
  }

  #isComplete(frame: Frame | undefined): boolean {
    if (!this.#plan.isFinite || frame?.event !== 'end') return false
    return (dataOf(frame) as { readonly reason?: unknown }).reason === 'complete'
  }

  #moveTo(cursor: string | undefined): void {
    if (cursor !== undefined) this.#after = cursor
    this.#backoff.reset()
    this.#plan.onPositioned?.()
  }
}

function journalItem(
  frame: Frame,
  data: unknown,
  { journals }: TailPlan,
): PlacedItem<JournalItem> | undefined {
  if (frame.event !== undefined && frame.event !== 'gap') return undefined
  // The server sends journal items unchanged.
  const item = deepFreeze(data as JournalItem)
  const [seq, cursor] = isGap(item) ? [item.data.to, item.data.cursor] : [item.seq, undefined]
  return { item, cursor: frame.id ?? cursor, seq: journals === 'all' ? undefined : seq }
}

function cursorIn(data: unknown): string | undefined {
  const { cursor } = (data ?? {}) as { readonly cursor?: unknown }
  return typeof cursor === 'string' ? cursor : undefined
}
