import type { JournalItem } from '@vitrine/protocol'

/** Events for a sink: delivered at least once, in order, one batch at a time. */
export interface SinkBatch {
  readonly events: readonly JournalItem[]
  /** The same for every attempt of this batch, so that a receiver can detect repetitions. */
  readonly key: string
}

export interface SinkWriteOptions {
  readonly signal: AbortSignal
  /** Reports the error of a callback that only observes the sink: it must not make the write fail. */
  onObserverError?(observer: string, error: unknown): void
}

/**
 * A destination of events. When `write` resolves, the batch is safely stored there; when it throws, the same batch is
 * retried with backoff until the sink is closed.
 */
export interface Sink {
  /** The kind of sink, for display: `jsonl`, `http`. */
  readonly kind: string
  /** The most events in one batch; default 1,000. */
  readonly batchEvents?: number
  write(batch: SinkBatch, options: SinkWriteOptions): Promise<void>
  /** Called once, after the last write. */
  close?(): Promise<void>
}
