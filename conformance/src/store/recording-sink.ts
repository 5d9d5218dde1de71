import type { Sink, SinkBatch } from '@vitrine/journal'
import type { JournalItem } from '@vitrine/protocol'

export interface RecordingSink extends Sink {
  /** Everything that was written, including repetitions. */
  readonly items: JournalItem[]
  readonly batches: SinkBatch[]
  /** The highest number of concurrent writes. */
  readonly mostAtOnce: number
  /** While set, every write fails with it. */
  broken: Error | undefined
  /** While set, every write waits for it. */
  hold: Promise<void> | undefined
}

/** A sink that records its writes and can be made to fail or wait. */
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
