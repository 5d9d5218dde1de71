import type { Journal, JournalStream } from '@vitrine/journal'
import { cutMargin, HeadAndTail } from './head-and-tail.ts'
import { cutPieces, type OutputPiece } from './pieces.ts'

export type OutputStream = 'stdout' | 'stderr' | 'terminal'

/** Uncommitted bytes: above `highWater` the pipes are paused, at `lowWater` they are resumed. */
const highWater = 1024 * 1024
const lowWater = 256 * 1024
/** The share of a process's budget for its first output; the rest is reserved for its last output. */
const headShare = 0.75

interface StreamState {
  readonly name: OutputStream
  readonly journal: JournalStream
  pending: Buffer[]
  rest: Buffer
  offset: number
  tail: HeadAndTail | undefined
}

export interface OutputRecorderOptions {
  readonly journal: Journal
  readonly process: string
  /** The most bytes of this process's output that the journal records. */
  readonly budget: number
  /** Called when the uncommitted bytes have fallen to the low-water mark. */
  onDrain(): void
}

/** Writes a process's output to the journal: one batch per tick and stream, and no more than the budget. */
export class OutputRecorder {
  readonly #options: OutputRecorderOptions
  readonly #streams = new Map<OutputStream, StreamState>()
  readonly #headBudget: number
  #bytes = 0
  #skipped = 0
  #written = 0
  #uncommitted = 0
  #full = false
  #scheduled = false
  #committing: Promise<unknown> = Promise.resolve()
  #limitReported = false

  constructor(options: OutputRecorderOptions) {
    this.#options = options
    this.#headBudget = Math.floor(options.budget * headShare)
  }

  /** Whether the pipes should be paused: from `highWater` until `onDrain`. */
  get full(): boolean {
    return this.#full
  }

  /** The number of bytes that were not recorded; final once `end` has settled. */
  get skipped(): number {
    return this.#skipped
  }

  get bytes(): number {
    return this.#bytes
  }

  take(name: OutputStream, chunk: Buffer): void {
    const stream = this.#stream(name)
    this.#bytes += chunk.length
    if (stream.tail !== undefined) {
      stream.tail.push(chunk)
      return
    }
    const available = Math.max(0, this.#headBudget - this.#written)
    const head = chunk.subarray(0, available)
    if (head.length > 0) {
      stream.pending.push(head)
      this.#written += head.length
      this.#uncommitted += head.length
      this.#full ||= this.#uncommitted > highWater
      this.#schedule()
    }
    if (head.length === chunk.length) return
    stream.tail = new HeadAndTail(this.#options.budget - this.#headBudget, 0, cutMargin)
    stream.tail.push(chunk.subarray(available))
    this.#reportLimit()
  }

  /** Ends the streams. Settles once all recorded output is committed. */
  async end(): Promise<void> {
    for (const stream of this.#streams.values()) {
      this.#flush(stream, { last: true })
      if (stream.tail !== undefined) this.#flushTail(stream, stream.tail, this.#shareOf(stream))
    }
    await Promise.all([...this.#streams.values()].map(({ journal }) => journal.end()))
    await this.#committing
  }

  #stream(name: OutputStream): StreamState {
    const known = this.#streams.get(name)
    if (known !== undefined) return known
    const journal = this.#options.journal.stream({ retryWhileFailing: true })
    const stream: StreamState = {
      name,
      journal,
      pending: [],
      rest: Buffer.alloc(0),
      offset: 0,
      tail: undefined,
    }
    this.#streams.set(name, stream)
    return stream
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      for (const stream of this.#streams.values()) this.#flush(stream, { last: false })
    })
  }

  #flush(stream: StreamState, { last }: { last: boolean }): void {
    if (stream.pending.length === 0 && !(last && stream.rest.length > 0)) return
    const bytes = Buffer.concat([stream.rest, ...stream.pending])
    stream.pending = []
    const { pieces, rest } = cutPieces(bytes, { last })
    stream.rest = rest
    this.#write(stream, pieces, 0)
  }

  /** The share of one stream in the budget for last output: half, or more if the other stream needs less than half. */
  #shareOf(stream: StreamState): number {
    const available = this.#options.budget - this.#headBudget
    const others = [...this.#streams.values()].filter((other) => other !== stream)
    const taken = others.reduce(
      (sum, { tail }) => sum + (tail === undefined ? 0 : tail.bytes - tail.skipped),
      0,
    )
    return Math.max(Math.floor(available / 2), available - taken)
  }

  #flushTail(stream: StreamState, tail: HeadAndTail, share: number): void {
    const { head, tail: end } = tail.parts()
    const kept = Buffer.concat([head, end])
    const last = kept.subarray(Math.max(0, kept.length - share))
    const skipped = tail.bytes - last.length
    this.#skipped += skipped
    stream.offset += skipped
    const { pieces } = cutPieces(last, { last: true })
    if (skipped > 0) {
      // A secret may be cut on both sides of the gap: the stream masks the one before it, and nothing continues it.
      this.#track(stream.journal.end())
      const [first] = pieces
      const before = Buffer.concat([tail.beforeTail(), kept.subarray(0, kept.length - last.length)])
      if (first !== undefined) pieces[0] = this.#masked(first, before, last)
    }
    if (pieces.length === 0 && skipped > 0)
      this.#write(stream, [{ bytes: 0, data: '', encoding: 'utf8' }], skipped)
    else this.#write(stream, pieces, skipped)
  }

  /** The first piece of these bytes, with a secret masked that begins before them. */
  #masked(piece: OutputPiece, before: Buffer, bytes: Buffer): OutputPiece {
    const known = Buffer.concat([before, bytes.subarray(0, piece.bytes)])
    const masked = this.#options.journal.redactContinued(known, before.length)
    return masked.redacted ? { ...piece, data: Buffer.from(masked.bytes).toString(piece.encoding) } : piece
  }

  #track(written: Promise<unknown>): void {
    // Disk failures are retried; any other failure means that the store is closed, so there is nothing to report to.
    this.#committing = Promise.all([this.#committing, written]).catch(() => undefined)
  }

  #write(stream: StreamState, pieces: readonly OutputPiece[], skipped: number): void {
    const { process } = this.#options
    const events = pieces.map(({ bytes, data, encoding }, index) => {
      const { offset } = stream
      stream.offset += bytes
      return {
        type: 'process.output',
        data: {
          process,
          stream: stream.name,
          offset,
          data,
          encoding,
          ...(index === 0 && skipped > 0 && { skipped }),
        },
      }
    })
    if (events.length === 0) return
    const size = pieces.reduce((sum, { bytes }) => sum + bytes, 0)
    this.#track(stream.journal.append(events).finally(() => this.#committed(size)))
  }

  #committed(bytes: number): void {
    const was = this.#uncommitted
    this.#uncommitted -= bytes
    if (was <= lowWater || this.#uncommitted > lowWater) return
    this.#full = false
    this.#options.onDrain()
  }

  #reportLimit(): void {
    if (this.#limitReported) return
    this.#limitReported = true
    const { journal, process, budget } = this.#options
    const data = { limit: 'process.output', max: budget, process }
    journal.append([{ type: 'limit.reached', data }]).catch(() => undefined)
  }
}
