import { inspect } from 'node:util'
import { endDaemon, nextEnd } from './ending.ts'
import { type DaemonOptions, type RunningDaemon, startDaemon } from './start.ts'

/** Runs a daemon until something ends it, and this process with it. */
export async function runDaemon(
  options: DaemonOptions,
  onListening: (daemon: RunningDaemon) => void,
): Promise<never> {
  // From the first moment on: a daemon that is stopped while it starts is closed all the same.
  const end = nextEnd()
  const starting = startDaemon(options)
  const first = await Promise.race([starting, end])
  // In the middle of a start it could leave that waiting for ever.
  if ('by' in first && first.by === 'error') {
    console.error(`vitrine: it could not start: ${inspect(first.error)}`)
    process.exit(1)
  }
  const daemon = await starting
  onListening(daemon)
  process.exit(await endDaemon(daemon, await end))
}
