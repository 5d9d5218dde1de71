import { isEvent, type ProcessExit } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { RemoteJournal } from '../journal/remote-journal.ts'

/** Finds the exit of a process in the journal, which outlives the sandbox. `http` is scoped to the sandbox. */
export async function recordedExit(http: HttpClient, process: string): Promise<ProcessExit | undefined> {
  const journal = new RemoteJournal('', http)
  let before: string | undefined
  for (;;) {
    const page = await journal.read({
      types: ['process.exited'],
      order: 'desc',
      ...(before !== undefined && { before }),
    })
    for (const event of page.events) {
      if (!isEvent(event, 'process.exited') || event.data.process !== process) continue
      const { outcome, exitCode = null, signal = null } = event.data
      return { outcome, exitCode, signal }
    }
    if (page.end) return undefined
    before = page.cursor
  }
}
