import type { ProcessInfo } from '@vitrine/protocol'
import type { ListedProcess } from '@vitrine/views'

/**
 * A process of a sandbox that does not run. One without an end is `interrupted`: its end was not observed. One whose
 * start was trimmed is unknown.
 */
export function recordedProcess(process: ListedProcess): ProcessInfo | undefined {
  const { id, argv = [], startedAt, pid, owner, tty = false, restarts = 0 } = process
  const { outcome = 'interrupted', exitCode = null, signal = null } = process
  if (startedAt === undefined) return undefined
  return {
    id,
    argv,
    tty,
    startedAt: startedAt.time,
    state: 'exited',
    restarts,
    ...(pid !== undefined && { pid }),
    ...(owner !== undefined && { owner }),
    exit: { outcome, exitCode, signal },
  }
}
