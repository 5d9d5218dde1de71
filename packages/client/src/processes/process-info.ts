import type { ProcessExit, ProcessInfo } from '@vitrine/protocol'

/** Picks the fields of `ProcessInfo`: the server also sends them under sandbox-agent's names. */
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

/** The exit of a process that is not restarted any more. */
export function exitOf({ state, exit }: ProcessInfo): ProcessExit | undefined {
  return state === 'exited' ? exit : undefined
}
