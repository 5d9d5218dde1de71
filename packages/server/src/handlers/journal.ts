import { type RememberedHead, VitrineError } from '@vitrine/protocol'
import type { journalRoutes } from '@vitrine/protocol/http'
import { isWholeNumber, shown } from '@vitrine/protocol/primitives'
import type { Daemon } from '../daemon/daemon.ts'
import { encodedJsonResponse, jsonResponse } from '../responses/json.ts'
import type { CallOf, HandlersOf } from '../routing/call.ts'
import { omitUndefined } from '../routing/omit-undefined.ts'
import { exportSource } from '../streams/sources.ts'
import { eventStream } from '../streams/stream.ts'

/** Items per page of a stream, as for events. */
const streamPage = 256

export function journalHandlers(daemon: Daemon): HandlersOf<typeof journalRoutes> {
  const { longReads } = daemon
  return {
    async readJournalHead(call) {
      return (await call.journal()).head
    },
    async verifyJournal({ query, signal, caller, ...call }) {
      const journal = await call.journal()
      const options = { ...omitUndefined({ head: headOf(query) }), signal: signal() }
      return longReads.run(caller.name, signal(), async () =>
        jsonResponse(200, await journal.verify(options)),
      )
    },
    async exportJournal(call) {
      const { query, signal, caller } = call
      const journal = await call.journal()
      if (call.wantsStream) {
        const after = lastEventSeq(call) ?? query.after ?? 0
        const tail = journal.tailExportEncoded({ after, page: streamPage, signal: signal() })
        await tail.begin()
        return eventStream(exportSource(tail, daemon.closing, daemon.metrics.streaming()), daemon.streams)
      }
      const options = { ...omitUndefined(query), signal: signal() }
      return longReads.run(caller.name, signal(), async () => {
        const items = await journal.exportEncoded(options)
        return encodedJsonResponse(200, `{"items":[${items.map(({ json }) => json).join()}]}`)
      })
    },
  }
}

function headOf({
  seq,
  hash,
}: CallOf<(typeof journalRoutes)['verifyJournal']>['query']): RememberedHead | undefined {
  if (seq !== undefined && hash !== undefined) return { seq, hash }
  if (seq === undefined && hash === undefined) return undefined
  throw new VitrineError('argument_invalid', 'seq, hash: expected both of them, or neither.')
}

function lastEventSeq({ request }: CallOf<(typeof journalRoutes)['exportJournal']>): number | undefined {
  const id = request.header('last-event-id')
  if (id === undefined) return undefined
  const seq = /^\d{1,15}$/.test(id) ? Number(id) : undefined
  if (isWholeNumber(seq)) return seq
  throw new VitrineError('cursor_invalid', `last-event-id: expected a seq, got ${shown(id)}.`)
}
