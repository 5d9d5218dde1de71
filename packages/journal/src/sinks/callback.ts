import type { JournalItem } from '@vitrine/protocol'
import type { Sink } from './sink.ts'

/**
 * Calls a function with each event and waits for it before the next. After a throw, the same event is delivered
 * again; earlier events are not, unless the process was restarted in between.
 *
 * @example
 * await store.addSink('metrics', callbackSink((event) => counters.add(event.type)))
 */
export function callbackSink(fn: (event: JournalItem) => void | Promise<void>): Sink {
  let done = { key: '', events: 0 }
  return {
    kind: 'callback',
    async write({ events, key }, { signal }) {
      if (done.key !== key) done = { key, events: 0 }
      for (const event of events.slice(done.events)) {
        signal.throwIfAborted()
        await fn(event)
        done.events += 1
      }
      done = { key: '', events: 0 }
    },
  }
}
