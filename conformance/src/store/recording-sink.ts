import type { Sink, SinkBatch } from '@vitrine/journal'
import type { JournalItem } from '@vitrine/protocol'

export interface RecordingSink extends Sink {
  /** Everything that was written, with its repetitions. */
  readonly items: JournalItem[]
  readonly batches: SinkBatch[]
  /** The most writes that were ever under way together. */
  readonly mostAtOnce: number
  /** While set, every write is refused with it. */
  broken: Error | undefined
  /** Set to hold every write until it resolves. */
  hold: Promise<void> | undefined
}

/** A sink that remembers, and that can be broken or slow. */
export function recordingSink(): RecordingSink {
  let underWay = 0
  let mostAtOnce = 0
  const sink: RecordingSink = {
    kind: 'recording',
    items: [],
    batches: [],
    broken: undefined,
    hold: undefined,
    get mostAtOnce() {
      return mostAtOnce
    },
    async write(batch) {
      underWay += 1
      mostAtOnce = Math.max(mostAtOnce, underWay)
      try {
        sink.batches.push(batch)
        await sink.hold
        if (sink.broken) throw sink.broken
        sink.items.push(...batch.events)
      } finally {
        underWay -= 1
      }
    },
  }
  return sink
}
