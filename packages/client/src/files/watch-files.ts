import { isGap, type JournalEvent, VitrineError } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { openTail } from '../journal/tail.ts'
import { PullIterator } from '../streams/pull-iterator.ts'

export interface WatchFilesOptions {
  readonly ignore?: readonly string[]
  readonly signal?: AbortSignal
}

/** The `file.*` events from the call on. A lost connection is an error: events in between would be missing. */
export function watchFiles(
  http: HttpClient,
  { signal, ...query }: WatchFilesOptions,
): AsyncIterableIterator<JournalEvent> {
  const items = openTail(
    http,
    { path: ['files', 'watch'], query, after: 'now', journals: 'one', resumes: false },
    signal,
  )
  return new PullIterator(
    {
      async next() {
        const { value: item } = await items.next()
        if (item !== undefined && isGap(item))
          throw new VitrineError(
            'reader_fell_behind',
            'File events were trimmed from the journal before they were read.',
          )
        return item
      },
      close: () => void items.return?.(),
    },
    signal,
  )
}
