import { setImmediate as immediately, setTimeout as sleep } from 'node:timers/promises'
import { VitrineError } from '@vitrine/protocol'
import { type ProcessRow, readProcessTable } from './process-table.ts'

const waitMs = 3_000
const maxRounds = 50

/** Sends a signal; false if the process is gone or may not be signalled. */
export function send(pid: number, signal: NodeJS.Signals): boolean {
  // 0 and negative numbers address process groups, and 1 is the init process.
  if (pid <= 1) return false
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}

/**
 * Kills every process that `members` finds. All of them are stopped first, in rounds until no new one is found, so that
 * no parent can fork while its children are being killed.
 */
export async function killMembers(
  members: (table: ReadonlyMap<number, ProcessRow>) => Iterable<number>,
): Promise<void> {
  const stopped = new Set<number>()
  const living = async () => {
    const table = await freshTable()
    return [...members(table)].filter((pid) => table.get(pid)?.ended === false)
  }
  for (let round = 0; round < maxRounds; round++) {
    const fresh = (await living()).filter((pid) => !stopped.has(pid))
    if (fresh.length === 0) break
    for (const pid of fresh) {
      send(pid, 'SIGSTOP')
      stopped.add(pid)
    }
  }
  for (const until = performance.now() + waitMs; ; ) {
    const left = await living()
    if (left.length === 0) return
    for (const pid of left) send(pid, 'SIGKILL')
    if (performance.now() > until) {
      throw new VitrineError(
        'internal',
        `Processes ${left.join(', ')} still exist ${waitMs} ms after SIGKILL.`,
      )
    }
    await sleep(2)
  }
}

let nextTable: Promise<ReadonlyMap<number, ProcessRow>> | undefined

/** Reads the process table after the call; calls in the same tick share one reading. */
function freshTable(): Promise<ReadonlyMap<number, ProcessRow>> {
  nextTable ??= immediately().then(() => {
    nextTable = undefined
    return readProcessTable()
  })
  return nextTable
}
