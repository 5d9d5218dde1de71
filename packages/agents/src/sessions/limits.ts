import { VitrineError } from '@vitrine/protocol'

/** How long an agent may take for what is not a turn. */
export const startMs = 120_000
export const answerMs = 120_000
/** What a close may take before it stops asking. */
export const closeMs = 1_000
export const endGraceMs = 700
/** How long the end of an agent is waited for that nobody wants any more before it has begun. */
export const giveUpMs = 2_000
/** What the close of all sessions of a sandbox may take before their agents are ended. */
export const endMs = 1_500
export const defaultCancelMs = 10_000
export const defaultQueue = 16
export const defaultRestoreChars = 12_000

/** Rejects with a coded error when it takes too long or is called off; what was asked is not waited for any more. */
export async function withinTime<T>(
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

/** Whether it has ended by then, well or not; it is not waited for any longer. */
export async function endsWithin(work: Promise<unknown> | undefined, ms: number): Promise<boolean> {
  const ended = Promise.resolve(work).then(
    () => true,
    () => true,
  )
  return withinTime(ended, ms, 'It').catch(() => false)
}

export function cancelled(what: string): VitrineError {
  return new VitrineError('cancelled', `${what} was cancelled.`)
}
