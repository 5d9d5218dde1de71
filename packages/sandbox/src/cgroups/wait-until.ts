import { setTimeout as pause } from 'node:timers/promises'
import { VitrineError } from '@vitrine/protocol'

const longestPauseMs = 20

/** Polls with growing pauses: for cgroup files there is no notification that is better than inotify. */
export async function waitUntil(
  isDone: () => boolean | Promise<boolean>,
  { timeoutMs, what }: { readonly timeoutMs: number; readonly what: string },
): Promise<void> {
  const end = performance.now() + timeoutMs
  for (let pauseMs = 1; !(await isDone()); pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    if (performance.now() >= end)
      throw new VitrineError('timeout', `${what} did not finish within ${timeoutMs} ms.`)
    await pause(pauseMs)
  }
}
