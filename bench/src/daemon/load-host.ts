// Generates load on request in a separate process, so that the measuring process does nothing else meanwhile.
import { download, upload } from './file-transfer.ts'
import { closeStreams, openStreams } from './open-streams.ts'
import { pacedRequests } from './paced-requests.ts'
import { recordAndRead, stall } from './readers.ts'
import { sendRequests } from './requests.ts'

const kinds = {
  ...{ sendRequests, pacedRequests, upload, download, stall, recordAndRead },
  ...{ openStreams, closeStreams },
}

export type Kinds = typeof kinds
export interface LoadJob<Kind extends keyof Kinds = keyof Kinds> {
  readonly kind: Kind
  readonly job: Parameters<Kinds[Kind]>[0]
}

process.on('message', (job: LoadJob | 'end') => {
  if (job === 'end') return void process.disconnect()
  run(job).then(
    (figures) => process.send?.({ figures }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.send?.('ready')

async function run<Kind extends keyof Kinds>({ kind, job }: LoadJob<Kind>): Promise<unknown> {
  // The kind determines the type of its job; the compiler cannot follow that through the table.
  return (kinds[kind] as (job: unknown) => Promise<unknown>)(job)
}
