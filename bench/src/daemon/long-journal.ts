import { openHost } from '@vitrine/host'
import { dataOf } from './daemon.ts'

export const longJournal = 'long'
export const longSession = 'ses_long'
const batch = 1_000

/** Records a session of many chunks before the daemon starts, because over HTTP only an agent writes its messages. */
export async function recordChunks(folder: string, chunks: number): Promise<void> {
  await using host = await openHost({ data: dataOf(folder), install: 'never' })
  const journal = await host.store.journal(longJournal)
  for (let first = 0; first < chunks; first += batch) {
    const length = Math.min(batch, chunks - first)
    await journal.append(Array.from({ length }, (_, index) => chunk(first + index)))
  }
}

function chunk(index: number) {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `word ${index} ` } }
  const params = { sessionId: longSession, update }
  const message = { jsonrpc: '2.0', method: 'session/update', params }
  return {
    type: 'agent.message',
    session: longSession,
    data: { instance: 'one', direction: 'out', message },
  } as const
}
