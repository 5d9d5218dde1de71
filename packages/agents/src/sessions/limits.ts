import { VitrineError } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'

/** Time limits for the start of an agent and for requests other than a prompt. */
export const startMs = 120_000
export const responseMs = 120_000
/** Time that closing a session waits for the agent to cooperate. */
export const closeMs = 1_000
export const endGraceMs = 700
/** Time to wait for an agent to exit when its start was cancelled. */
export const cancelStartMs = 2_000
/** Time to close all sessions of a sandbox before their agents are killed. */
export const endMs = 1_500
export const defaultCancelMs = 10_000
export const defaultQueue = 16
export const defaultRestoreChars = 12_000

/** Rejects with `agent_silent` after `ms` or with `cancelled` on abort; the work itself continues. */
export async function withTimeLimit<T>(
  work: Promise<T>,
  ms: number,
  what: string,
  signal?: AbortSignal,
): Promise<T> {
  if (await settledWithin(work, ms, { signal, ref: true })) return work
  if (signal?.aborted) throw cancelledError(what)
  throw new VitrineError('agent_silent', `${what} took longer than ${ms} ms.`)
}

export function cancelledError(what: string): VitrineError {
  return new VitrineError('cancelled', `${what} was cancelled.`)
}
