import { readerConformance, type WriterAndReader } from '../src/index.ts'
import { InProcessDaemon } from './daemons.ts'

const id = 'sbx_read'

readerConformance('a client over HTTP', overHttp)

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
