/** How long things take that wait by themselves. */
export interface Timing {
  /** Comes back early, without an error, when the signal aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
  /** A stream that says nothing for so long is dead. */
  readonly idleMs: number
  /** How long the answer of a call that was called off is waited for. */
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
