import { VitrineError } from '@vitrine/protocol'

/** How long an agent may take for what is not a turn. */
export const startMs = 120_000
export const answerMs = 120_000
/** What a close may take before it stops asking. */
export const closeMs = 1_000
export const endGraceMs = 700
export const defaultCancelMs = 10_000
export const defaultQueue = 16
export const defaultRestoreChars = 12_000

/** Rejects with a coded error when it takes too long; what was asked is not waited for any more. */
export async function withinTime<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new VitrineError('agent_silent', `${what} took longer than ${ms} ms.`))
    }, ms)
  })
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
