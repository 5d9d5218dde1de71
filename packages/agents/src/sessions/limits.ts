import { VitrineError } from '@vitrine/protocol'

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
  const late = Promise.withResolvers<never>()
  const cancel = () => late.reject(cancelled(what))
  const timer = Number.isFinite(ms)
    ? setTimeout(
        () => late.reject(new VitrineError('agent_silent', `${what} took longer than ${ms} ms.`)),
        ms,
      )
    : undefined
  signal?.addEventListener('abort', cancel, { once: true })
  if (signal?.aborted) cancel()
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}

/** Resolves to whether the work has settled within `ms`, fulfilled or rejected. */
export async function settlesWithin(work: Promise<unknown> | undefined, ms: number): Promise<boolean> {
  const ended = Promise.resolve(work).then(
    () => true,
    () => true,
  )
  return withTimeLimit(ended, ms, 'It').catch(() => false)
}

export function cancelled(what: string): VitrineError {
  return new VitrineError('cancelled', `${what} was cancelled.`)
}
