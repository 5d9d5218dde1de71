import {
  type AllJournalsReader,
  allJournalsConformance,
  readerConformance,
  type WriterAndReader,
} from '../src/index.ts'
import { InProcessDaemon } from './daemons.ts'

const id = 'sbx_read'

readerConformance('a client over HTTP', overHttp)

allJournalsConformance('a client over HTTP', async () => {
  const daemon = await InProcessDaemon.open()
  const { client } = daemon
  const reader: AllJournalsReader = {
    read: (options) => client.readEvents(options),
    tail: (options) => client.events(options),
    summary: (options) => client.summarizeEvents(options),
    cursor: (item) => client.cursor(item),
  }
  return { store: daemon.host.store, reader, dispose: () => daemon.close() }
})

/** Writes directly to the daemon's store and reads through a client. */
async function overHttp(): Promise<WriterAndReader> {
  const daemon = await InProcessDaemon.open({ journals: [id] })
  let writer = await daemon.host.store.journal(id)
  return {
    get writer() {
      return writer
    },
    reader: async () => daemon.client.journal(id),
    trim: (limits) => writer.trim(limits),
    async restart() {
      await daemon.restart()
      writer = await daemon.host.store.journal(id)
      return writer
    },
    dispose: () => daemon.close(),
  }
}
