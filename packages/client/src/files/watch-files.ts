import { type FileWatchOptions, isGap, type JournalEvent, VitrineError } from '@vitrine/protocol'
import { PullIterator } from '@vitrine/protocol/primitives'
import type { HttpClient } from '../http/http-client.ts'
import { openTail } from '../journal/tail.ts'

/** The `file.*` events after a cursor, by default from the call on, over any number of connections. */
export function watchFiles(
  http: HttpClient,
  { signal, after = 'now', ...query }: FileWatchOptions,
): AsyncIterableIterator<JournalEvent> {
  const items = openTail(http, { path: ['files', 'watch'], query, after, journals: 'one' }, signal)
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
