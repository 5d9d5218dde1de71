import type { Journal } from '@vitrine/journal'
import { type ExportedItem, isVitrineError, type JournalOrigin, VitrineError } from '@vitrine/protocol'
import { Backoff, Serial, settledWithin } from '@vitrine/protocol/primitives'

const pageItems = 500
const forever = new Promise<never>(() => undefined)

/** Copies the journal of a provided sandbox into the host's store: the same events, `seq`, hashes and blobs. */
export class JournalMirror {
  readonly #origin: JournalOrigin
  readonly #mirror: Journal
  readonly #imports = new Serial()
  readonly #end = new AbortController()
  #following: Promise<void> | undefined

  constructor(origin: JournalOrigin, mirror: Journal) {
    this.#origin = origin
    this.#mirror = mirror
  }

  /** Throws `journal_diverged` unless the origin has the newest event of the copy, with the same hash. */
  async assertContinues(signal: AbortSignal): Promise<void> {
    const { seq, hash } = this.#mirror.head
    if (seq === 0) return
    const [item] = await this.#origin.export({ after: seq - 1, limit: 1, signal }).catch((error: unknown) => {
      // The origin is shorter than the copy.
      if (isVitrineError(error) && error.code === 'cursor_ahead') return []
      throw error
    })
    // A hole that is longer than the copy has another hash.
    if (item !== undefined && (lastSeq(item) > seq || hashOf(item) === hash)) return
    throw new VitrineError(
      'journal_diverged',
      `The journal ${this.#mirror.id} does not continue: event ${seq} of its copy is not there, or is another one.`,
    )
  }

  /** Copies everything that the origin has now. Throws `journal_diverged` if it does not continue the copy. */
  sync(signal: AbortSignal = this.#end.signal): Promise<void> {
    return this.#imports.run(async () => {
      for (;;) {
        const after = this.#mirror.head.seq
        const items = await this.#origin.export({ after, limit: pageItems, signal })
        if (items.length === 0) return
        await this.#mirror.import(items, { from: this.#origin, signal })
      }
    })
  }

  /** Copies new events until `close`. `onLost` gets an error that repeating does not help. */
  follow(onLost: (error: unknown) => void): void {
    this.#following ??= this.#follow(onLost)
  }

  /** Ends the copying, after a last attempt of at most `ms` to copy everything. */
  async close(ms: number): Promise<void> {
    await settledWithin(
      this.sync().catch(() => undefined),
      ms,
      { ref: true },
    )
    this.#end.abort()
    await settledWithin(this.#following, ms, { ref: true })
  }

  async #follow(onLost: (error: unknown) => void): Promise<void> {
    const { signal } = this.#end
    const backoff = new Backoff(100, 30_000)
    while (!signal.aborted) {
      try {
        await this.#followTail()
      } catch (error) {
        if (signal.aborted) return
        if (isVitrineError(error) && error.code === 'journal_diverged') return onLost(error)
      }
      await settledWithin(forever, backoff.next(), { signal })
    }
  }

  async #followTail(): Promise<void> {
    const { signal } = this.#end
    const tail = this.#origin.tailExport({ after: this.#mirror.head.seq, signal })
    for await (const item of tail) if (lastSeq(item) > this.#mirror.head.seq) await this.sync(signal)
  }
}

function hashOf(item: ExportedItem): string {
  return 'hole' in item ? item.hole.hash : item.hash
}

function lastSeq(item: ExportedItem): number {
  return 'hole' in item ? item.hole.to : item.event.seq
}
