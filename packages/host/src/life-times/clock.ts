import { AsyncLocalStorage } from 'node:async_hooks'

/** Calls a function outside of every operation. */
const withoutOperation: <T>(run: () => T) => T = AsyncLocalStorage.snapshot()

/** The time that life times are measured with. */
export interface Clock {
  /** Milliseconds since 1970: a creation time is compared with it after a restart. */
  now(): number
  /** Calls `run` once after `ms`, without keeping Node running. Returns the function that prevents it. */
  after(ms: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    // An end by the host is no part of the operation that sets its timer, such as an attach.
    const timer = withoutOperation(() => setTimeout(run, ms))
    timer.unref()
    return () => clearTimeout(timer)
  },
}
