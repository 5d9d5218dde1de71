import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { shutDown, waitForShutdownCause } from './shutdown.ts'
import { type DaemonOptions, type RunningDaemon, startDaemon } from './start.ts'

/** Runs a daemon until a signal or an uncaught error, then exits the process. */
export async function runDaemon(
  options: DaemonOptions,
  onListening: (daemon: RunningDaemon) => void | Promise<void>,
): Promise<never> {
  // Handle signals before starting, so that a daemon stopped during its start is still closed.
  const cause = waitForShutdownCause()
  const starting = startDaemon(options)
  const first = await Promise.race([starting, cause])
  // After an uncaught error the start may never settle, so do not wait for it.
  if ('by' in first && first.by === 'error') {
    console.error(`vitrine: the daemon could not start: ${inspect(first.error)}`)
    process.exit(1)
  }
  const daemon = await starting
  await onListening(daemon)
  limitHeap()
  process.exit(await shutDown(daemon, await cause))
}

/**
 * Under a steady stream of events V8 lets the heap grow by a hundred mebibytes of garbage, and a daemon shares the machine
 * with its sandboxes. Set after the start: with a flag on its command line Node compiles its own modules again.
 */
function limitHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
}
