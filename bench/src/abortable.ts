import { settledWithin } from '@vitrine/protocol/primitives'

/** Waits for a promise until the signal is aborted. The work itself continues; its owner ends it. */
export async function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (await settledWithin(work, Number.POSITIVE_INFINITY, { signal })) return work
  throw signal.reason
}
