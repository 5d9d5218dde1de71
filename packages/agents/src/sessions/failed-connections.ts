import type { Journal } from '@vitrine/journal'
import type { FailedConnection, JournalItem } from '@vitrine/protocol'
import { failedConnectionText } from '@vitrine/views'

/** Maximum of destinations in one error. */
const maxShown = 5
/** An agent may repeat an attempt many times; only the newest are looked at. */
const maxRead = 200

/** The destinations that a process could not reach after that event, each once, the newest last. */
export async function failedConnections(
  journal: Pick<Journal, 'read' | 'cursor'>,
  process: string,
  after: { readonly seq: number },
): Promise<readonly FailedConnection[]> {
  const { events } = await journal.read({
    after: journal.cursor(after),
    types: ['network.refused', 'network.failed'],
    order: 'desc',
    limit: maxRead,
  })
  const found = new Map<string, FailedConnection>()
  for (const event of events) {
    const failed = failedConnection(event, process)
    if (failed === undefined) continue
    const key = `${failed.host}:${failed.port}`
    if (!found.has(key)) found.set(key, failed)
    if (found.size === maxShown) break
  }
  return [...found.values()].reverse()
}

function failedConnection(event: JournalItem, process: string): FailedConnection | undefined {
  if (event.type === 'network.failed' && event.data.process === process) {
    const { host, port, error } = event.data
    return { host, port, error }
  }
  if (event.type === 'network.refused' && event.data.process === process) {
    const { host, port, reason, allow } = event.data
    return { host, port, error: reason, ...(allow !== undefined && { allow }) }
  }
  return undefined
}

/** Formats the connections as the end of an error message. */
export function formatConnections(connections: readonly FailedConnection[]): string {
  return connections.map((connection) => `\n${failedConnectionText(connection)}`).join('')
}
