/** Delays and time limits of the client; tests replace them. */
export interface Timing {
  /** Resolves early, without an error, when the signal aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
  /** A stream that sends nothing for this long is dead. */
  readonly idleMs: number
  /** How long to wait for the response of a cancelled call. */
  readonly cancelMs: number
}

export const defaultTiming: Timing = { sleep, idleMs: 25_000, cancelMs: 5_000 }

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end)
  })
}
