import { type ProcessExit, readPages } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { RemoteJournal } from '../journal/remote-journal.ts'

/** Finds the exit of a process in the journal, which outlives the sandbox. `http` is scoped to the sandbox. */
export async function recordedExit(http: HttpClient, process: string): Promise<ProcessExit | undefined> {
  const journal = new RemoteJournal('', http)
  for await (const { events } of readPages(journal, { types: ['process.exited'], order: 'desc' })) {
    for (const event of events) {
      if (event.type !== 'process.exited' || event.data.process !== process) continue
      const { outcome, exitCode = null, signal = null } = event.data
      return { outcome, exitCode, signal }
    }
  }
  return undefined
}
