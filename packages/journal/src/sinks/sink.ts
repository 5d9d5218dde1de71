import type { JournalItem } from '@vitrine/protocol'

/** What a sink is handed: at least once, in order, never two batches at a time. */
export interface SinkBatch {
  readonly events: readonly JournalItem[]
  /** The same for every try of this batch: what a receiver may recognise a repetition by. */
  readonly key: string
}

export interface SinkWriteOptions {
  readonly signal: AbortSignal
}

/**
 * Where events go. A write that resolves means the batch is safe there; one that throws is tried again
 * with the same batch, with growing pauses, for as long as the sink is added.
 */
export interface Sink {
  /** What it is, for people: `jsonl`, `http`. */
  readonly kind: string
  /** How many events one batch may hold; 1,000 without it. */
  readonly batchEvents?: number
  write(batch: SinkBatch, options: SinkWriteOptions): Promise<void>
  /** Called once, after the last write. */
  close?(): Promise<void>
}
