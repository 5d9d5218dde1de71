import { inspect } from 'node:util'
import { settledWithin } from '@vitrine/protocol/primitives'
import { signalCodes, takeSignals } from '../signals.ts'
import type { RunningDaemon } from './start.ts'

const closeMs = 4_500
const recordMs = 1_000
/** One Ctrl-C can deliver SIGINT twice, from the terminal and from npm; a repetition within this time is ignored. */
const repeatedSignalMs = 300

/** Why a daemon shuts down. */
export type ShutdownCause = { readonly by: 'signal' } | { readonly by: 'error'; readonly error: unknown }

/** Resolves with the first signal or uncaught error. A second signal exits at once. */
export function waitForShutdownCause(): Promise<ShutdownCause> {
  const { promise, resolve } = Promise.withResolvers<ShutdownCause>()
  let firstAt: number | undefined
  takeSignals(['SIGHUP', 'SIGINT', 'SIGTERM'], (signal) => {
    firstAt ??= performance.now()
    if (performance.now() - firstAt > repeatedSignalMs) process.exit(signalCodes[signal])
    resolve({ by: 'signal' })
  })
  onUnexpected((error) => resolve({ by: 'error', error }))
  // A closed stderr must not end the daemon.
  process.stderr.on('error', () => undefined)
  return promise
}

function onUnexpected(handle: (error: unknown) => void): void {
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) process.on(kind, handle)
}

/** Closes the daemon within a time limit and returns the exit code. */
export async function shutDown(daemon: RunningDaemon, cause: ShutdownCause): Promise<number> {
  const report = (text: string) => console.error(daemon.withoutTokens(text))
  if (cause.by === 'error') {
    report(`vitrine: uncaught error: ${inspect(cause.error)}`)
    await settledWithin(recordError(daemon, cause.error), recordMs)
  }
  onUnexpected((error) => report(`vitrine: error while closing: ${inspect(error)}`))
  const closing = daemon.close().then(
    () => true,
    (error: unknown) => {
      report(`vitrine: closing failed: ${inspect(error)}`)
      return false
    },
  )
  const isClosed = (await settledWithin(closing, closeMs)) && (await closing)
  if (isClosed) return cause.by === 'signal' ? 0 : 1
  report('vitrine: the daemon did not close completely; the next start kills the remaining processes.')
  return 1
}

async function recordError({ host, withoutTokens }: RunningDaemon, error: unknown): Promise<void> {
  try {
    const journal = await host.store.journal('host', { source: 'host' })
    const message = withoutTokens(error instanceof Error ? (error.stack ?? error.message) : inspect(error))
    await journal.append([{ type: 'log.message', data: { level: 'error', message } }])
  } catch {
    // The store itself may have failed; the error is already on stderr.
  }
}
