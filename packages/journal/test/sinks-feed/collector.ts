import type { JournalEvent, JournalItem } from '@vitrine/protocol'
import type { Sink, SinkBatch } from '../../src/index.ts'

export interface Collector {
  readonly sink: Sink
  /** Every attempt, including failed ones. */
  readonly tries: SinkBatch[]
  /** The accepted items, in order. */
  readonly items: JournalItem[]
  readonly events: () => readonly JournalEvent[]
  /** Called before a batch is accepted; a throw rejects it. */
  before: (batch: SinkBatch, options: { readonly signal: AbortSignal }) => unknown
  closed: number
}

/** A sink that records its batches and whose behaviour a test controls. */
export function collector({ batchEvents }: { batchEvents?: number } = {}): Collector {
  const items: JournalItem[] = []
  const tries: SinkBatch[] = []
  const self: Collector = {
    tries,
    items,
    closed: 0,
    before: () => undefined,
    events: () => items.filter((item) => 'seq' in item),
    sink: {
      kind: 'collector',
      ...(batchEvents !== undefined && { batchEvents }),
      async write(batch, options) {
        tries.push(batch)
        await self.before(batch, options)
        items.push(...batch.events)
      },
      async close() {
        self.closed += 1
      },
    },
  }
  return self
}
