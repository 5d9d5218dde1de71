import { setTimeout as sleep } from 'node:timers/promises'
import type { Journal } from '@vitrine/journal'
import { type EventInput, isVitrineError } from '@vitrine/protocol'

const attempts = 3
const retryMs = 200

/**
 * Appends the end of a turn, and before it the ends of the requests in it, in one commit. If that is refused, each is
 * appended on its own: a request that is not on record, or that cannot be written, must not leave the turn open. Throws if
 * the end cannot be written.
 */
export async function appendEnd(
  journal: Pick<Journal, 'append'>,
  requests: readonly EventInput[],
  end: EventInput,
  appendTurn: (events: readonly EventInput[]) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await appendTurn(attempt === 1 ? [...requests, end] : [end])
    } catch (error) {
      const isRefused = attempt === 1 && requests.length > 0
      if (attempt === attempts || (isFinal(error) && !isRefused)) throw error
    }
    if (attempt === 1) for (const request of requests) await journal.append([request]).catch(() => undefined)
    else await sleep(retryMs)
  }
}

/** Whether the turn has ended already, or the journal is not written any more. */
function isFinal(error: unknown): boolean {
  return isVitrineError(error) && ['work_not_open', 'store_closed', 'store_fenced'].includes(error.code)
}
