import type { ProcessExit, ProcessInfo } from '@vitrine/protocol'

/** A process as the server tells it, which says the same in other words as well. */
export function processInfo(info: ProcessInfo): ProcessInfo {
  const { id, argv, pid, tty, owner, startedAt, state, restarts, exit } = info
  return {
    id,
    argv,
    tty,
    startedAt,
    state,
    restarts,
    ...(pid !== undefined && { pid }),
    ...(owner !== undefined && { owner }),
    ...(exit !== undefined && { exit }),
  }
}

/** How it ended for good. */
export function exitOf({ state, exit }: ProcessInfo): ProcessExit | undefined {
  return state === 'exited' ? exit : undefined
}
