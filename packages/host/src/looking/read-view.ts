import { type JournalReader, type ReadOptions, readPages } from '@vitrine/protocol'
import { TimeSlice } from '@vitrine/protocol/primitives'
import type { View } from '@vitrine/views'

const sliceMs = 1
/** Events that are added to a view at once: less than a slice. */
const pageEvents = 128

interface ViewQuery extends Pick<ReadOptions, 'types' | 'session' | 'text'> {
  /** The last `seq` to read; default all. */
  readonly until?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** The state of a view after the events of a journal, folded in slices between which the event loop runs. */
export async function readView<State>(
  journal: Pick<JournalReader, 'read'>,
  view: View<State>,
  { until = Number.POSITIVE_INFINITY, signal, ...filter }: ViewQuery = {},
): Promise<State> {
  const slice = new TimeSlice(signal, sliceMs)
  let state = view.empty
  for await (const page of readPages(journal, { ...filter, limit: pageEvents, ...(signal && { signal }) })) {
    if (slice.expired) await slice.yieldToEventLoop()
    const events = page.events.filter((item) => !('seq' in item) || item.seq <= until)
    state = view.add(state, events)
    if (events.length < page.events.length) break
  }
  return state
}
