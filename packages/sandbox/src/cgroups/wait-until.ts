import { setTimeout as pause } from 'node:timers/promises'
import { VitrineError } from '@vitrine/protocol'

const longestPauseMs = 20

/** Polls with growing pauses: for cgroup files there is no notification that is better than inotify. */
export async function waitUntil(
  isSo: () => boolean | Promise<boolean>,
  { withinMs, what }: { readonly withinMs: number; readonly what: string },
): Promise<void> {
  const end = performance.now() + withinMs
  for (let pauseMs = 1; !(await isSo()); pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    if (performance.now() >= end)
      throw new VitrineError('timeout', `${what} did not happen within ${withinMs} ms.`)
    await pause(pauseMs)
  }
}
