import { type JournalReader, readPages } from '@vitrine/protocol'
import { TimeSlice } from '@vitrine/protocol/primitives'
import { type Transcript, transcriptView } from '@vitrine/views'

const sliceMs = 1
/** Events that are added to a transcript at once: less than a slice. */
const pageEvents = 128

interface TranscriptQuery {
  readonly session: string
  /** The last `seq` to read; default all. */
  readonly at?: number | undefined
  readonly signal: AbortSignal
}

/** The transcript of a session, folded in slices between which the event loop runs. */
export async function readTranscript(
  journal: Pick<JournalReader, 'read'>,
  { session, at = Number.POSITIVE_INFINITY, signal }: TranscriptQuery,
): Promise<Transcript> {
  const view = transcriptView({ session })
  const slice = new TimeSlice(signal, sliceMs)
  let state = view.empty
  for await (const page of readPages(journal, { session, limit: pageEvents, signal })) {
    if (slice.expired) await slice.yieldToEventLoop()
    const events = page.events.filter((item) => !('seq' in item) || item.seq <= at)
    state = view.add(state, events)
    if (events.length < page.events.length) break
  }
  return state
}
