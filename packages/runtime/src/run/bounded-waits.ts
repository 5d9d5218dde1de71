import { settledWithin } from '@vitrine/protocol/primitives'

/** How long a turn that ends waits for a host that does not answer. */
const endMs = 5_000

/** Waits for a call that may ignore the signal, which then ends the wait. */
export async function orAborted<Result>(signal: AbortSignal, run: () => Promise<Result>): Promise<Result> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([run(), aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Waits for a last step of a turn, but not for ever. Its error goes to `onError`; undefined if it did not succeed in time. */
export async function briefly<Result>(
  step: Promise<Result>,
  onError: (error: unknown) => void,
): Promise<Result | undefined> {
  const handled = step.catch((error: unknown) => {
    onError(error)
    return undefined
  })
  return (await settledWithin(handled, endMs, { ref: true })) ? handled : undefined
}
