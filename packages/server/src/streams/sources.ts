import type { EncodedEvent, EncodedExport, Tail } from '@vitrine/journal'
import { FrameJoiner, frame } from './frames.ts'
import type { EventStreamSource } from './stream.ts'

/** Events of a journal. Heartbeats carry the cursor, which also advances past events that the filter rejects. */
export function journalSource(
  tail: Tail<EncodedEvent>,
  closing: AbortSignal,
  onClose: () => void,
): EventStreamSource {
  const frames = new FrameJoiner()
  const position = () => ({ cursor: tail.cursor ?? null })
  return {
    async next() {
      const batch = await tail.batch()
      return batch && frames.join(batch)
    },
    isLive: () => tail.isLive,
    heartbeat: position,
    end: () => ({ ...position(), reason: closing.aborted ? 'closing' : 'complete' }),
    close() {
      void tail.return()
      onClose()
    },
  }
}

/** Exported items of a journal. The id of a frame is the `seq` to continue after. */
export function exportSource(
  tail: Tail<EncodedExport>,
  closing: AbortSignal,
  onClose: () => void,
): EventStreamSource {
  return {
    async next() {
      const batch = await tail.batch()
      return batch && Buffer.from(batch.map(({ seq, json }) => `id: ${seq}\ndata: ${json}\n\n`).join(''))
    },
    heartbeat: () => ({}),
    end: () => ({ reason: closing.aborted ? 'closing' : 'complete' }),
    close() {
      void tail.return()
      onClose()
    },
  }
}

interface FramesOptions<Item> {
  close(): void
  readonly closing: AbortSignal
  /** For a stream that can be resumed: the cursor before its first item, and after each. */
  readonly cursors?: { readonly start: string | undefined; of(item: Item): string | undefined }
}

/** The items of an iterator as JSON frames. When the daemon closes, the end says so: the items were not complete. */
export function framesOf<Item>(
  items: AsyncIterator<Item, unknown>,
  toJson: (item: Item) => unknown,
  { close, closing, cursors }: FramesOptions<Item>,
): EventStreamSource {
  let cursor = cursors?.start
  const position = () => (cursor === undefined ? {} : { cursor })
  return {
    async next() {
      const { done, value } = await items.next()
      if (done) return undefined
      cursor = cursors?.of(value)
      return frame(undefined, toJson(value), cursor)
    },
    heartbeat: position,
    end: () => ({ ...position(), reason: closing.aborted ? 'closing' : 'complete' }),
    close,
  }
}
