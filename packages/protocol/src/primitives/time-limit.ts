/** The longest delay of a timer; a longer one would fire at once. */
export const longestTimer = 0x7fff_ffff

export interface TimeLimitOptions {
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined
  /** Keeps Node running for the wait; default false: with nothing else to do, Node exits before the wait ends. */
  readonly ref?: boolean
}

/**
 * Waits for a promise, at most `ms` or until the signal aborts, and resolves to whether it has settled. Never rejects:
 * await the promise afterwards for its value or its error. The work behind the promise is not cancelled.
 *
 * @example
 * if (!(await settledWithin(process.exit, 1_000))) await process.kill()
 */
export function settledWithin(
  promise: Promise<unknown> | undefined,
  ms: number,
  { signal, ref = false }: TimeLimitOptions = {},
): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isSettled: boolean) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
      resolve(isSettled)
    }
    const onSettled = () => end(true)
    const giveUp = () => end(false)
    const isLimited = ms !== Number.POSITIVE_INFINITY
    const timer = isLimited ? setTimeout(giveUp, Math.min(ms, longestTimer)) : undefined
    if (!ref) unref(timer)
    Promise.resolve(promise).then(onSettled, onSettled)
    // In a microtask: a promise that has settled already counts as such, even with an aborted signal.
    if (signal?.aborted) queueMicrotask(giveUp)
    else signal?.addEventListener('abort', giveUp)
  })
}

/** Only timers of Node have the method; those of a browser are numbers. */
function unref(timer: unknown): void {
  if (typeof timer !== 'object' || timer === null) return
  if ('unref' in timer && typeof timer.unref === 'function') timer.unref()
}
