import { setTimeout as sleep } from 'node:timers/promises'

/** Runs a task periodically until the signal aborts. The timer does not keep the process alive. */
export async function repeat(
  milliseconds: number,
  signal: AbortSignal,
  task: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
    if (signal.aborted) return
    // A failed task runs again next time; a failed commit is reported to its own caller.
    await task().catch(() => undefined)
  }
}
