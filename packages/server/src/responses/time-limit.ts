/** Resolves with the promise, or with undefined when the time has passed or the signal aborts. */
export async function withTimeLimit<T>(
  promise: Promise<T>,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const expired = Promise.withResolvers<undefined>()
  const giveUp = () => expired.resolve(undefined)
  const timer = setTimeout(giveUp, milliseconds)
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([promise, expired.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}
