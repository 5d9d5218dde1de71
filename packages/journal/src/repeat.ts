import { setTimeout as sleep } from 'node:timers/promises'

/** Does something again and again, with a pause before each, until the signal. It keeps no process alive. */
export async function repeat(
  milliseconds: number,
  signal: AbortSignal,
  task: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
    if (signal.aborted) return
    // What failed is done again; a commit that fails tells its caller.
    await task().catch(() => undefined)
  }
}
