import type { EncodedEvent, Tail } from '@vitrine/journal'
import { FrameJoiner, frame } from './frames.ts'
import type { StreamSource } from './stream.ts'

/** Events from the journal, with the cursor of what was looked at in every heartbeat. */
export function journalSource(
  tail: Tail<EncodedEvent>,
  closing: AbortSignal,
  onClose: () => void,
): StreamSource {
  const frames = new FrameJoiner()
  const position = () => ({ cursor: tail.cursor ?? null })
  return {
    async next() {
      const batch = await tail.batch()
      return batch && frames.join(batch)
    },
    heartbeat: position,
    end: () => ({ ...position(), reason: closing.aborted ? 'closing' : 'over' }),
    close() {
      void tail.return()
      onClose()
    },
  }
}

/** Anything that comes one by one, each as a frame of JSON. One that was cut does not look as if it were over. */
export function framesOf<Item>(
  items: AsyncIterator<Item, unknown>,
  toJson: (item: Item) => unknown,
  { close, closing }: { close(): void; readonly closing: AbortSignal },
): StreamSource {
  return {
    async next() {
      const { done, value } = await items.next()
      return done ? undefined : frame(undefined, toJson(value))
    },
    heartbeat: () => ({}),
    end: () => ({ reason: closing.aborted ? 'closing' : 'over' }),
    close,
  }
}
